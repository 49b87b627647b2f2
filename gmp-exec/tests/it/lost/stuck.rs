//! Fifteen tasks that can never run again, as programs really have them, and what is found of them.
//! Not found are tasks that keep their own waker alive, or whose waker a static keeps.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::task::Poll;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use gmp_exec::spawn;
use gmp_exec::task::{Id, JoinHandle, yield_now};
use tokio::sync::{Mutex, Notify, mpsc, oneshot, watch};

use super::{lost_at_rest, observing_runtimes};
use crate::support::Watchdog;

/// Spawns stuck tasks. What is returned is kept while the tasks are looked for.
type Pattern = fn() -> BoxFuture<'static, Spawned>;

struct Spawned {
    found: Vec<Id>,
    missed: usize,
    _kept: Box<dyn std::any::Any + Send>,
}

fn found(task: JoinHandle<()>) -> Spawned {
    Spawned { found: vec![task.id()], missed: 0, _kept: Box::new(task) }
}

fn missed(count: usize, kept: impl std::any::Any + Send) -> Spawned {
    Spawned { found: vec![], missed: count, _kept: Box::new(kept) }
}

const PATTERNS: [(&str, Pattern); 12] = [
    ("pending", || Box::pin(async { found(spawn(pending())) })),
    ("Pending without a waker", || {
        Box::pin(async {
            let mut polled = false;
            found(spawn(poll_fn(
                move |_| if std::mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending },
            )))
        })
    }),
    ("one receiver polled by two tasks: the one that was displaced, and the other", || Box::pin(displaced())),
    ("tasks that await each other", || Box::pin(await_each_other())),
    ("oneshot with a forgotten sender", || {
        Box::pin(async {
            let (sender, receiver) = oneshot::channel::<()>();
            std::mem::forget(sender);
            missed(1, spawn(async { _ = receiver.await }))
        })
    }),
    ("mpsc with its only sender in the task", || {
        Box::pin(async {
            let (sender, mut receiver) = mpsc::channel::<()>(1);
            missed(1, spawn(async move { _ = (receiver.recv().await, sender) }))
        })
    }),
    ("watch with its only sender in the task", || {
        Box::pin(async {
            let (sender, mut receiver) = watch::channel(());
            missed(1, spawn(async move { _ = (receiver.changed().await, sender) }))
        })
    }),
    ("mutex locked twice", || {
        Box::pin(async {
            let mutex = Arc::new(Mutex::new(()));
            missed(1, spawn(async move { _ = (mutex.lock().await, mutex.lock().await) }))
        })
    }),
    ("a Notify that only the task has", || {
        Box::pin(async {
            let notify = Notify::new();
            missed(1, spawn(async move { notify.notified().await }))
        })
    }),
    ("two mutexes crosswise", || Box::pin(crosswise())),
    ("a mutex that is also held by a static", || {
        static LOCKED: Mutex<()> = Mutex::const_new(());
        Box::pin(async {
            let guard = LOCKED.try_lock();
            std::mem::forget(guard);
            missed(1, spawn(async { _ = LOCKED.lock().await }))
        })
    }),
    ("FuturesUnordered of pending", || {
        Box::pin(async {
            missed(1, spawn(async { _ = [pending::<()>()].into_iter().collect::<FuturesUnordered<_>>().next().await }))
        })
    }),
];

/// The receiver keeps the waker of the task that has polled it last.
async fn displaced() -> Spawned {
    let (sender, receiver) = oneshot::channel::<()>();
    let receiver = Arc::new(std::sync::Mutex::new(receiver));
    let has_polled = Arc::new(AtomicBool::new(false));
    let wait = |receiver: Arc<std::sync::Mutex<oneshot::Receiver<()>>>| {
        let has_polled = has_polled.clone();
        spawn(poll_fn(move |cx| {
            let poll = Pin::new(&mut *receiver.lock().unwrap()).poll(cx).map(|_| ());
            has_polled.store(true, SeqCst);
            poll
        }))
    };
    let first = wait(receiver.clone());
    while !has_polled.load(SeqCst) {
        yield_now().await;
    }
    let second = wait(receiver);
    Spawned { found: vec![first.id()], missed: 1, _kept: Box::new((first, second, sender)) }
}

async fn await_each_other() -> Spawned {
    let (give, take) = oneshot::channel::<JoinHandle<()>>();
    let one = spawn(async move { _ = take.await.unwrap().await });
    let id = one.id();
    let other = spawn(async move { _ = one.await });
    let found = vec![id, other.id()];
    give.send(other).unwrap();
    Spawned { found, missed: 0, _kept: Box::new(()) }
}

async fn crosswise() -> Spawned {
    let mutexes = [Arc::new(Mutex::new(())), Arc::new(Mutex::new(()))];
    let both = Arc::new(tokio::sync::Barrier::new(2));
    let lock = |first: &Arc<Mutex<()>>, second: &Arc<Mutex<()>>| {
        let (first, second, both) = (first.clone(), second.clone(), both.clone());
        spawn(async move {
            let held = first.lock().await;
            both.wait().await;
            _ = (second.lock().await, held);
        })
    };
    missed(2, [lock(&mutexes[0], &mutexes[1]), lock(&mutexes[1], &mutexes[0])])
}

#[test]
fn of_each_pattern_exactly_what_can_be_known_is_found() {
    for kind in 0..observing_runtimes().len() {
        let (mut found, mut missed) = (0, 0);
        for (name, pattern) in PATTERNS {
            let runtime = observing_runtimes().remove(kind);
            let _watchdog = Watchdog::of(&runtime);
            runtime.block_on(async {
                let mut spawned = pattern().await;
                spawned.found.sort();
                let lost: Vec<Id> = lost_at_rest(spawned.found.len()).await.iter().map(|task| task.id).collect();
                assert_eq!(lost, spawned.found, "{name}");
                (found, missed) = (found + lost.len(), missed + spawned.missed);
            });
        }
        assert_eq!((found, missed), (5, 10));
    }
}
