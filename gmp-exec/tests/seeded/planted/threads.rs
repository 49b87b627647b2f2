//! Orders of threads that are taken for granted.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::*;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::thread;

use gmp_exec::runtime::Builder;

use super::check_budget;

pub(crate) fn order_of_threads() {
    let (names, all) = (Arc::new(Mutex::new(Vec::new())), 0..2);
    let threads: Vec<_> = all
        .map(|name| {
            let names = names.clone();
            thread::spawn(move || names.lock().unwrap().push(name))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*names.lock().unwrap(), [0, 1]);
}

/// The thread needs what its creator sets only after the start.
pub(crate) fn set_after_the_start() {
    let value = Arc::new(OnceLock::new());
    let reader = value.clone();
    let thread = thread::spawn(move || *reader.get().expect("it was set"));
    value.set(5).unwrap();
    assert_eq!(thread.join().unwrap(), 5);
}

/// The first thread that waits at a condition need not be the first one that is woken.
pub(crate) fn first_waiter() {
    /// How many wait, how many may go on, and the names of those that do.
    #[derive(Default)]
    struct Shared {
        waiting: u32,
        permits: u32,
        names: Vec<u32>,
    }
    fn wait(shared: &(Mutex<Shared>, Condvar, Condvar), name: u32) {
        let mut state = shared.0.lock().unwrap();
        state.waiting += 1;
        shared.2.notify_one();
        let mut state = shared.1.wait_while(state, |state| state.permits == 0).unwrap();
        state.permits -= 1;
        state.names.push(name);
        shared.2.notify_one();
    }
    let shared: Arc<(Mutex<Shared>, Condvar, Condvar)> = Arc::default();
    let main_waits = |until: &dyn Fn(&Shared) -> bool| {
        drop(shared.2.wait_while(shared.0.lock().unwrap(), |state| !until(state)).unwrap());
    };
    for name in 0..2 {
        let waiter = shared.clone();
        thread::spawn(move || wait(&waiter, name));
        main_waits(&|state| state.waiting == name + 1);
    }
    for count in 1..=2 {
        shared.0.lock().unwrap().permits += 1;
        shared.1.notify_one();
        main_waits(&|state| state.names.len() == count);
    }
    assert_eq!(shared.0.lock().unwrap().names, [0, 1]);
}

/// Two threads wait in `block_on`, and each update has two steps.
pub(crate) fn two_callers() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let value = Arc::new(AtomicU32::new(0));
    let caller = || {
        let (handle, value) = (runtime.handle().clone(), value.clone());
        thread::spawn(move || {
            handle.block_on(async {
                let before = value.load(SeqCst);
                check_budget().await;
                value.store(before + 1, SeqCst);
            });
        })
    };
    [caller(), caller()].into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(value.load(SeqCst), 2);
}
