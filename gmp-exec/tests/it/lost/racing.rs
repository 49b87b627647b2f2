//! Threads look for lost tasks all the time, while healthy tasks wake each other in all ways: none
//! is ever called lost.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use gmp_exec::spawn;
use gmp_exec::task::{JoinHandle, yield_now};
use tokio::sync::{Mutex, Notify, mpsc};

use super::observing_runtimes;
use crate::support::Watchdog;

const DURATION: Duration = Duration::from_millis(700);
/// The check looks at least so often.
const LOOKS: usize = 100;

/// Wakes by value, by reference, from other threads, and by the end of an awaited task.
fn load(stop: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let (to, mut at) = mpsc::channel::<()>(1);
        let (back, mut from) = mpsc::channel::<()>(1);
        tasks.push(spawn(async move { while at.recv().await.is_some() && back.send(()).await.is_ok() {} }));
        let stop = stop.clone();
        tasks.push(spawn(async move {
            while !stop.load(Relaxed) && to.send(()).await.is_ok() && from.recv().await.is_some() {}
        }));
    }
    let (mutex, notify) = (Arc::new(Mutex::new(0)), Arc::new(Notify::new()));
    for _ in 0..4 {
        let (mutex, stop) = (mutex.clone(), stop.clone());
        tasks.push(spawn(async move {
            while !stop.load(Relaxed) {
                *mutex.lock().await += 1;
                spawn(async { yield_now().await }).await.unwrap();
            }
        }));
    }
    let (waiting, stopped) = (notify.clone(), stop.clone());
    tasks.push(spawn(async move {
        while !stopped.load(Relaxed) {
            waiting.notified().await;
        }
    }));
    let stop = stop.clone();
    std::thread::spawn(move || {
        while !stop.load(Relaxed) {
            notify.notify_one();
            std::thread::yield_now();
        }
        notify.notify_one();
    });
    tasks
}

#[test]
fn no_healthy_task_is_called_lost() {
    for runtime in observing_runtimes() {
        let _watchdog = Watchdog::of(&runtime);
        let stop = Arc::new(AtomicBool::new(false));
        let looking = std::thread::spawn({
            let (handle, stop) = (runtime.handle().clone(), stop.clone());
            move || {
                let (start, mut looks) = (Instant::now(), 0);
                while start.elapsed() < DURATION || looks < LOOKS {
                    let lost = handle.lost_tasks();
                    assert!(lost.tasks.is_empty(), "{lost}");
                    looks += 1;
                }
                stop.store(true, Relaxed);
            }
        });
        runtime.block_on(async {
            for task in load(&stop) {
                task.await.unwrap();
            }
        });
        looking.join().unwrap();
    }
}
