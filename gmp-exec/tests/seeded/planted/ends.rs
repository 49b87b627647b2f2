//! Tasks that end between two steps which belong together.

use std::sync::{Arc, Mutex};

use gmp_exec::runtime::Builder;
use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use super::{check_budget, on_one_thread};

type Shared = Arc<Mutex<(Vec<u32>, Vec<u32>)>>;

/// Moves a number from the first list to the second.
async fn move_one(shared: Shared) {
    let number = shared.lock().unwrap().0.pop().unwrap();
    check_budget().await;
    shared.lock().unwrap().1.push(number);
}

fn assert_nothing_is_lost(shared: &Shared) {
    let lists = shared.lock().unwrap();
    assert_eq!(lists.0.len() + lists.1.len(), 1);
}

pub(crate) fn aborted_between_steps() {
    on_one_thread(async {
        let shared = Shared::new(Mutex::new((vec![1], vec![])));
        let task = spawn(move_one(shared.clone()));
        yield_now().await;
        task.abort();
        let _ = task.await;
        assert_nothing_is_lost(&shared);
    });
}

pub(crate) fn dropped_with_its_runtime() {
    let shared = Shared::new(Mutex::new((vec![1], vec![])));
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        spawn(move_one(shared.clone()));
        yield_now().await;
    });
    drop(runtime);
    assert_nothing_is_lost(&shared);
}
