//! The end of a set is the end of its tasks, on the thread of the set, whatever their destructors
//! do.

use std::cell::{Cell, RefCell};
use std::future::pending;
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use gmp_exec::task::{self, LocalSet, spawn_local, yield_now};
use gmp_exec::time::sleep;
use tokio::sync::oneshot;

use super::{OnDrop, end_here, runtimes};

#[test]
fn dropping_the_set_drops_its_tasks_here() {
    for runtime in runtimes() {
        let ended = Rc::new(Cell::new(0));
        let set = LocalSet::new();
        let waiting = set.spawn_local(end_here(&ended));
        set.block_on(&runtime, yield_now());
        let not_begun = set.spawn_local(end_here(&ended));
        drop(set);
        assert_eq!(ended.get(), 2);
        for task in [waiting, not_begun] {
            assert!(task.now_or_never().unwrap().unwrap_err().is_cancelled());
        }
    }
}

#[test]
fn a_task_spawned_while_the_set_ends_is_cancelled() {
    struct SpawnsInDrop(Rc<RefCell<Option<task::JoinHandle<()>>>>);
    impl Drop for SpawnsInDrop {
        fn drop(&mut self) {
            *self.0.borrow_mut() = Some(spawn_local(pending()));
        }
    }

    let spawned = Rc::new(RefCell::new(None));
    let set = LocalSet::new();
    let guard = SpawnsInDrop(spawned.clone());
    set.spawn_local(async move {
        let _guard = guard;
        pending::<()>().await
    });
    set.block_on(&runtimes()[0], yield_now());
    let entered = set.enter();
    drop(set);
    let late = spawn_local(pending::<()>());
    drop(entered);

    let spawned = spawned.borrow_mut().take().unwrap();
    for task in [spawned, late] {
        assert!(task.now_or_never().unwrap().unwrap_err().is_cancelled());
    }
}

#[test]
fn destructors_may_wake_and_abort_other_tasks_of_the_set() {
    let runtime = &runtimes()[0];
    let set = LocalSet::new();
    let ended = Rc::new(Cell::new(0));
    let others = [(); 3].map(|()| set.spawn_local(end_here(&ended)).abort_handle());
    let (trigger, triggered) = oneshot::channel::<()>();
    set.spawn_local(async move {
        let _guard = OnDrop(Some(move || {
            others.iter().for_each(|other| other.abort());
            drop(trigger);
        }));
        pending::<()>().await
    });
    set.spawn_local(async move {
        let _ = triggered.await;
    });
    set.block_on(runtime, yield_now());
    drop(set);
    assert_eq!(ended.get(), 3);
}

#[test]
fn a_panic_in_a_destructor_does_not_leave_the_drop_of_the_set() {
    let set = LocalSet::new();
    let panicking = set.spawn_local(async {
        let _guard = OnDrop(Some(|| panic!("in drop")));
        pending::<()>().await
    });
    let ended = Rc::new(Cell::new(0));
    set.spawn_local(end_here(&ended));
    set.block_on(&runtimes()[0], yield_now());
    drop(set);
    assert_eq!(ended.get(), 1);
    assert!(panicking.now_or_never().unwrap().unwrap_err().is_panic());
}

#[test]
fn a_set_outlives_its_runtime() {
    for runtime in runtimes() {
        let set = LocalSet::new();
        let ended = Rc::new(Cell::new(0));
        let waiting = set.spawn_local(end_here(&ended));
        let slept = set.spawn_local(sleep_for_an_hour());
        let (trigger, triggered) = oneshot::channel();
        let received = set.spawn_local(triggered);
        set.block_on(&runtime, yield_now());
        drop(runtime);

        trigger.send(4).unwrap();
        assert_eq!(futures::executor::block_on(set.run_until(received)).unwrap(), Ok(4));
        let error = futures::executor::block_on(set.run_until(slept)).unwrap_err();
        assert!(error.to_string().contains("it is being shutdown"), "{error}");
        drop(set);
        assert_eq!(ended.get(), 1);
        assert!(waiting.now_or_never().unwrap().unwrap_err().is_cancelled());
    }
}

async fn sleep_for_an_hour() {
    sleep(Duration::from_secs(3600)).await;
}

#[test]
fn a_set_may_end_with_its_thread() {
    thread_local! {
        static SET: LocalSet = LocalSet::new();
    }
    let (report, reports) = mpsc::channel();
    thread::spawn(move || {
        SET.with(|set| {
            set.spawn_local(async move {
                let _guard = OnDrop(Some(move || report.send(thread::current().id()).unwrap()));
                pending::<()>().await
            });
            let _ = set.run_until(yield_now()).now_or_never();
        });
        thread::current().id()
    })
    .join()
    .map(|id| assert_eq!(reports.recv_timeout(Duration::from_secs(30)).unwrap(), id))
    .unwrap();
}
