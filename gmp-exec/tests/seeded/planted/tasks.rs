//! Orders of tasks, and of what else has none, that are taken for granted.

use std::cell::Cell;
use std::collections::HashSet;
use std::future::ready;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::*;
use std::sync::{Arc, Mutex};
use std::thread;

use gmp_exec::spawn;
use gmp_exec::task::{JoinSet, LocalSet, spawn_local, yield_now};
use tokio::sync::{broadcast, mpsc, oneshot};

use super::{on_one_thread, on_two_workers};

pub(crate) fn order_of_tasks() {
    on_one_thread(run_in_order_of_spawns());
}

pub(crate) async fn run_in_order_of_spawns() {
    let names = Arc::new(Mutex::new(Vec::new()));
    let task = |name| {
        let names = names.clone();
        spawn(async move { names.lock().unwrap().push(name) })
    };
    let tasks = [task(0), task(1)];
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*names.lock().unwrap(), [0, 1]);
}

pub(crate) fn order_of_senders() {
    on_one_thread(async {
        let (sender, mut receiver) = mpsc::channel(4);
        for number in 0..2 {
            let sender = sender.clone();
            spawn(async move { sender.send(number).await.unwrap() });
        }
        assert_eq!((receiver.recv().await, receiver.recv().await), (Some(0), Some(1)));
    });
}

pub(crate) fn order_in_local_set() {
    on_one_thread(LocalSet::new().run_until(async {
        let first = Rc::new(Cell::new(None));
        let task = |number| {
            let first = first.clone();
            spawn_local(async move { first.set(first.get().or(Some(number))) })
        };
        let tasks = [task(0), task(1)];
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(first.get(), Some(0));
    }));
}

pub(crate) fn order_of_ends() {
    on_one_thread(async {
        let mut tasks = JoinSet::new();
        (0..2).for_each(|number| drop(tasks.spawn(ready(number))));
        assert_eq!(tasks.join_next().await.unwrap().unwrap(), 0);
    });
}

/// The future of `block_on` is woken while another task could run.
pub(crate) fn root_goes_first() {
    on_one_thread(async {
        let has_run = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = oneshot::channel();
        spawn(async move { sender.send(()).unwrap() });
        let other = has_run.clone();
        spawn(async move { other.store(true, SeqCst) });
        receiver.await.unwrap();
        assert!(!has_run.load(SeqCst));
    });
}

/// The listener needs two polls. Only priorities let another task have twenty before.
pub(crate) fn late_listener() {
    on_one_thread(async {
        let listens = Arc::new(AtomicBool::new(false));
        let listener = listens.clone();
        spawn(async move {
            yield_now().await;
            listener.store(true, SeqCst);
        });
        let other = spawn(async {
            for _ in 0..20 {
                yield_now().await;
            }
        });
        other.await.unwrap();
        assert!(listens.load(SeqCst));
    });
}

pub(crate) fn slow_receiver() {
    on_one_thread(async {
        let (sender, mut receiver) = broadcast::channel(1);
        let task = spawn(async move { while receiver.recv().await.expect("no message is skipped") < 1 {} });
        let sending = spawn(async move {
            for number in 0..2 {
                yield_now().await;
                sender.send(number).unwrap();
            }
        });
        task.await.unwrap();
        sending.await.unwrap();
    });
}

/// A task may go on at another worker.
pub(crate) fn same_worker() {
    on_two_workers(async {
        let task = || async {
            let thread = thread::current().id();
            yield_now().await;
            assert_eq!(thread::current().id(), thread);
        };
        let tasks = [spawn(task()), spawn(task())];
        for task in tasks {
            task.await.unwrap();
        }
    });
}

pub(crate) fn ready_branches() {
    on_one_thread(async {
        tokio::select! {
            () = ready(()) => {}
            () = ready(()) => panic!("the second branch"),
        }
    });
}

pub(crate) fn order_of_a_map() {
    let numbers: HashSet<u32> = (0..2).collect();
    assert_eq!(numbers.into_iter().collect::<Vec<_>>(), [0, 1]);
}
