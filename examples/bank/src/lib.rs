use std::sync::Arc;

use tokio::sync::Mutex;

type Account = Arc<Mutex<i64>>;

pub async fn transfer(from: Account, to: Account) {
    let mut from = from.lock().await;
    let mut to = to.lock().await;
    *from -= 1;
    *to += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn transfers_keep_the_sum() {
        let [a, b] = [100, 200].map(|sum| Arc::new(Mutex::new(sum)));
        let there = tokio::spawn(transfer(a.clone(), b.clone()));
        let back = tokio::spawn(transfer(b.clone(), a.clone()));
        there.await.unwrap();
        back.await.unwrap();
        assert_eq!(*a.lock().await + *b.lock().await, 300);
    }

    #[tokio::test]
    async fn a_transfer_moves_money() {
        let [a, b] = [100, 200].map(|sum| Arc::new(Mutex::new(sum)));
        transfer(a.clone(), b.clone()).await;
        assert_eq!((*a.lock().await, *b.lock().await), (99, 201));
    }
}
