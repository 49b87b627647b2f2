//! A task that blocks its thread, beside tasks that go on: the picture in docs/console.md.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use gmp_exec::task::Builder;
use tokio::sync::Mutex;
use tokio::time::{interval, sleep};

#[tokio::main(worker_threads = 2)]
async fn main() {
    console_subscriber::init();
    let lock = Arc::new(Mutex::new(()));
    let held = lock.clone();
    named("blocks its thread", async move {
        let _guard = held.lock().await;
        std::thread::park();
    });
    named("waits for the lock", async move { drop(lock.lock().await) });
    named("ticks", async {
        let mut interval = interval(Duration::from_millis(10));
        loop {
            interval.tick().await;
        }
    });
    for _ in 0..3 {
        named("sleeps", async {
            loop {
                sleep(Duration::from_millis(100)).await;
            }
        });
    }
    pending::<()>().await;
}

#[track_caller]
fn named(name: &'static str, future: impl Future<Output = ()> + Send + 'static) {
    Builder::new().name(name).spawn(future).expect("a runtime");
}
