//! Orders of threads that are taken for granted.

use std::future::Future;
use std::hint::black_box;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::*;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

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

/// The first thread that waits for a lock need not be the first one that gets the lock.
pub(crate) fn first_waiter() {
    let names = Arc::new(Mutex::new(Vec::new()));
    let guard = names.lock().unwrap();
    let waiter = |name| {
        let names = names.clone();
        let thread = thread::spawn(move || names.lock().unwrap().push(name));
        // Virtual time, which goes on when the thread waits.
        thread::sleep(Duration::from_secs(1));
        thread
    };
    let threads = [waiter(0), waiter(1)];
    drop(guard);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*names.lock().unwrap(), [0, 1]);
}

/// Two threads wait in `block_on`.
pub(super) fn two_threads<F: Future<Output = ()> + 'static>(add: fn(Arc<AtomicU32>) -> F) {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let value = Arc::new(AtomicU32::new(0));
    let caller = || {
        let (handle, value) = (runtime.handle().clone(), value.clone());
        thread::spawn(move || handle.block_on(add(value)))
    };
    [caller(), caller()].into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(value.load(SeqCst), 2);
}

pub(crate) fn two_callers() {
    two_threads(|value| async move {
        let before = value.load(SeqCst);
        check_budget().await;
        value.store(before + 1, SeqCst);
    });
}

/// Two polls are under way at once, and neither waits.
pub(crate) fn update_inside_a_poll() {
    two_threads(|value| async move {
        let sum = Box::new(value.load(SeqCst) + 1);
        let copy = black_box(sum.clone());
        value.store(*copy, SeqCst);
    });
}
