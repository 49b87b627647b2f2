use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gmp_sim::{Host, choose, heal, partition};
use tokio::time::sleep;

#[tokio::test]
async fn a_term_has_one_leader() {
    let leaders = Arc::new(Mutex::new(BTreeMap::<u64, &str>::new()));
    let names = ["a", "b", "c"];
    let mut hosts = names.map(Host::new);
    let [a, b, c] = hosts.each_ref().map(Host::ip);
    for (i, peers) in [[b, c], [a, c], [a, b]].into_iter().enumerate() {
        let (own, leaders) = (hosts[i].ip(), leaders.clone());
        hosts[i].start(move || {
            let leaders = leaders.clone();
            cluster::run(own, peers, move |term| {
                let other = leaders.lock().unwrap().insert(term, names[i]);
                assert!(other.is_none(), "a term has two leaders");
            })
        });
    }
    for _ in 0..3 {
        sleep(Duration::from_millis(500)).await;
        let ways = [(0, 1), (0, 2), (1, 2)].map(|(i, j)| (&hosts[i], &hosts[j]));
        ways.iter().filter(|_| choose(2) == 1).for_each(|(one, other)| partition(one, other));
        sleep(Duration::from_millis(500)).await;
        ways.iter().for_each(|(one, other)| heal(one, other));
    }
    assert!(!leaders.lock().unwrap().is_empty(), "somebody leads");
}
