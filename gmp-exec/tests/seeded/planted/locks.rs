//! Tasks that take locks in steps.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::*;

use gmp_exec::spawn;
use tokio::sync::{Mutex, Notify, RwLock, Semaphore};

use super::{check_budget, on_one_thread};

async fn both(one: impl Future<Output = ()> + Send + 'static, other: impl Future<Output = ()> + Send + 'static) {
    let tasks = [spawn(one), spawn(other)];
    for task in tasks {
        task.await.unwrap();
    }
}

pub(crate) fn two_locks() {
    async fn lock_both(first: Arc<Mutex<()>>, second: Arc<Mutex<()>>) {
        let _first = first.lock().await;
        check_budget().await;
        let _second = second.lock().await;
    }
    on_one_thread(async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        both(lock_both(a.clone(), b.clone()), lock_both(b, a)).await;
    });
}

pub(crate) fn half_of_the_permits() {
    async fn acquire_both(permits: Arc<Semaphore>) {
        let _one = permits.acquire().await.unwrap();
        check_budget().await;
        let _other = permits.acquire().await.unwrap();
    }
    on_one_thread(async {
        let permits = Arc::new(Semaphore::new(2));
        both(acquire_both(permits.clone()), acquire_both(permits)).await;
    });
}

/// A writer that waits between two readers lets the second one wait.
pub(crate) fn read_twice() {
    async fn read(lock: Arc<RwLock<()>>) {
        let _outer = lock.read().await;
        check_budget().await;
        let _inner = lock.read().await;
    }
    async fn write(lock: Arc<RwLock<()>>) {
        let _exclusive = lock.write().await;
    }
    on_one_thread(async {
        let lock = Arc::new(RwLock::new(()));
        both(read(lock.clone()), write(lock)).await;
    });
}

pub(crate) fn notified_too_early() {
    async fn wait(shared: Arc<(AtomicBool, Notify)>) {
        if !shared.0.load(SeqCst) {
            check_budget().await;
            shared.1.notified().await;
        }
    }
    async fn set(shared: Arc<(AtomicBool, Notify)>) {
        shared.0.store(true, SeqCst);
        shared.1.notify_waiters();
    }
    on_one_thread(async {
        let shared = Arc::new((AtomicBool::new(false), Notify::new()));
        both(wait(shared.clone()), set(shared)).await;
    });
}

pub(crate) fn lost_update() {
    async fn add(value: Arc<Mutex<u32>>) {
        let before = *value.lock().await;
        check_budget().await;
        *value.lock().await = before + 1;
    }
    on_one_thread(async {
        let value = Arc::new(Mutex::new(0));
        both(add(value.clone()), add(value.clone())).await;
        assert_eq!(*value.lock().await, 2);
    });
}
