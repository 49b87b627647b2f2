//! The functions that are called when a task is spawned, polled and dropped.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use gmp_exec::runtime::{Builder, LocalOptions, Runtime, TaskMeta};
use gmp_exec::task::{self, Id, JoinHandle, JoinSet, LocalSet, yield_now};

use crate::support::{current, multi, panic_message, run, wait_until};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Spawned,
    Polling,
    Polled,
    Ended,
}
use Event::*;

type Log = Arc<Mutex<Vec<(Id, Event)>>>;

fn hooked(builder: &mut Builder) -> (&mut Builder, Log) {
    let log = Log::default();
    let note = |event| {
        let log = log.clone();
        move |task: &TaskMeta<'_>| {
            assert!(task.spawned_at().file().ends_with("hooks.rs"), "{task:?}");
            log.lock().unwrap().push((task.id(), event));
        }
    };
    builder
        .on_task_spawn(note(Spawned))
        .on_before_task_poll(note(Polling))
        .on_after_task_poll(note(Polled))
        .on_task_terminate(note(Ended));
    (builder, log)
}

fn events(log: &Log, of: Id) -> Vec<Event> {
    log.lock().unwrap().iter().filter(|(id, _)| *id == of).map(|&(_, event)| event).collect()
}

fn build(mut builder: Builder) -> (Runtime, Log) {
    let (builder, log) = hooked(&mut builder);
    (builder.build().unwrap(), log)
}

/// The end comes when the handle is ready, inside the last poll, as on tokio.
const TWO_POLLS: [Event; 6] = [Spawned, Polling, Polled, Polling, Ended, Polled];

/// The handle of a task may be ready before its last hooks have been called.
fn wait_for(log: &Log, of: Id, expected: &[Event]) {
    wait_until(|| events(log, of).len() >= expected.len());
    assert_eq!(events(log, of), expected);
}

#[test]
fn each_event_of_a_task_is_told_in_order() {
    let (runtime, log) = build(current());
    for task in [(); 50].map(|()| runtime.spawn(yield_now())) {
        let id = task.id();
        runtime.block_on(task).unwrap();
        assert_eq!(events(&log, id), TWO_POLLS);
    }
}

/// Another thread may begin the second poll before the first thread has told of the end of its
/// poll.
#[test]
fn each_event_is_told_once_on_any_thread() {
    for builder in [multi(1), multi(4)] {
        let (runtime, log) = build(builder);
        for task in [(); 50].map(|()| runtime.spawn(yield_now())) {
            let id = task.id();
            runtime.block_on(task).unwrap();
            wait_until(|| events(&log, id).len() >= TWO_POLLS.len());
            let told = events(&log, id);
            assert_eq!(told[..2], [Spawned, Polling]);
            let count = |event| told.iter().filter(|&&told| told == event).count();
            assert_eq!([Spawned, Polling, Polled, Ended].map(count), [1, 2, 2, 1]);
        }
    }
}

#[test]
fn at_the_end_the_handle_is_ready_and_was_woken() {
    for mut builder in [current(), multi(2)] {
        let handle = Arc::new(Mutex::new(None::<JoinHandle<()>>));
        let is_woken = Arc::new(AtomicBool::new(false));
        let (sender, seen) = mpsc::channel();
        let runtime = builder
            .on_task_terminate({
                let (handle, is_woken) = (handle.clone(), is_woken.clone());
                move |_| {
                    let is_finished = handle.lock().unwrap().as_ref().unwrap().is_finished();
                    sender.send((is_finished, is_woken.load(SeqCst))).unwrap();
                }
            })
            .build()
            .unwrap();
        let (go, gone) = oneshot();
        let mut task = runtime.spawn(gone);
        let waker = Waker::from(Arc::new(Notice(is_woken)));
        assert!(Pin::new(&mut task).poll(&mut Context::from_waker(&waker)).is_pending());
        *handle.lock().unwrap() = Some(task);
        go();
        runtime.block_on(async {
            while !handle.lock().unwrap().as_ref().unwrap().is_finished() {
                yield_now().await;
            }
        });
        assert_eq!(seen.recv().unwrap(), (true, true));
        // The hook, the handle, its task and the runtime would keep each other alive.
        *handle.lock().unwrap() = None;
    }
}

struct Notice(Arc<AtomicBool>);

impl Wake for Notice {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// A future that is ready after the call.
fn oneshot() -> (impl FnOnce(), impl Future<Output = ()> + Send) {
    let ready = Arc::new(AtomicBool::new(false));
    let call = {
        let ready = ready.clone();
        move || ready.store(true, SeqCst)
    };
    let future = async move {
        while !ready.load(SeqCst) {
            yield_now().await;
        }
    };
    (call, future)
}

#[test]
fn an_output_that_ends_other_tasks_is_told_apart_from_them() {
    let mut inner = current();
    let (inner, inner_log) = hooked(&mut inner);
    let mut outer = current();
    let (outer, outer_log) = hooked(&mut outer);
    let outer = outer.build_local(LocalOptions::default()).unwrap();
    let inner = inner.build_local(LocalOptions::default()).unwrap();
    let waits = inner.spawn_local(pending::<()>()).id();
    let task = outer.spawn_local(async move { inner });
    let id = task.id();
    drop(task);
    outer.block_on(yield_now());
    assert_eq!(events(&inner_log, waits), [Spawned, Ended]);
    assert_eq!(events(&outer_log, id), [Spawned, Polling, Ended, Polled]);
}

#[test]
fn both_hooks_of_a_poll_are_told_how_long_the_task_has_waited() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = || {
        let seen = seen.clone();
        move |task: &TaskMeta<'_>| seen.lock().unwrap().push(task.schedule_latency())
    };
    let runtime = current()
        .track_task_schedule_latency()
        .on_task_spawn(|task| assert!(task.schedule_latency().is_none()))
        .on_before_task_poll(note())
        .on_after_task_poll(note())
        .build()
        .unwrap();
    // Runs only when there is a thread in `block_on`.
    let task = runtime.spawn(yield_now());
    let spawned = Instant::now();
    wait_until(|| spawned.elapsed() > Duration::from_millis(20));
    runtime.block_on(task).unwrap();
    let seen = seen.lock().unwrap();
    let [first, again, second, last] = seen[..] else { panic!("{seen:?}") };
    assert!(first.unwrap() >= Duration::from_millis(20) && again == first, "{seen:?}");
    assert!(second.unwrap() < first.unwrap() && last == second, "{seen:?}");
}

#[test]
fn without_the_setting_no_latency_is_told() {
    let runtime = current().on_before_task_poll(|task| assert!(task.schedule_latency().is_none())).build().unwrap();
    runtime.block_on(runtime.spawn(yield_now())).unwrap();
    assert_eq!(runtime.metrics().worker_poll_count(0), 2);
}

#[test]
fn a_panic_and_an_abort_end_a_task_too() {
    let (runtime, log) = build(current());
    let panics = runtime.spawn(async { panic!("boom") });
    let waits = runtime.spawn(pending::<()>());
    let aborted = runtime.spawn(pending::<()>());
    let ids = [panics.id(), waits.id(), aborted.id()];
    aborted.abort();
    runtime.block_on(async {
        assert!(panics.await.unwrap_err().is_panic());
        assert!(aborted.await.unwrap_err().is_cancelled());
    });
    drop(runtime);
    assert_eq!(events(&log, ids[0]), [Spawned, Polling, Ended, Polled]);
    assert_eq!(events(&log, ids[1]), [Spawned, Polling, Polled, Ended], "at the end of the runtime");
    assert_eq!(events(&log, ids[2]), [Spawned, Polling, Ended, Polled], "the poll has dropped its future");
}

#[test]
fn a_task_that_aborts_itself_has_been_polled() {
    let (runtime, log) = build(multi(2));
    let task = runtime.spawn(async {
        let own = task::id();
        assert_eq!(task::try_id(), Some(own));
        let (sender, handle) = std::sync::mpsc::channel::<task::AbortHandle>();
        let child = task::spawn(async move {
            let handle = handle.recv().unwrap();
            handle.abort();
            pending::<()>().await;
        });
        sender.send(child.abort_handle()).unwrap();
        let id = child.id();
        assert!(child.await.unwrap_err().is_cancelled());
        id
    });
    let child = runtime.block_on(task).unwrap();
    wait_for(&log, child, &[Spawned, Polling, Ended, Polled]);
}

#[test]
fn closures_are_told_at_their_end_only() {
    let (runtime, log) = build(multi(2));
    let closure = runtime.spawn_blocking(|| ());
    let id = closure.id();
    runtime.block_on(closure).unwrap();
    wait_for(&log, id, &[Ended]);
}

#[test]
fn tasks_of_a_local_runtime_are_told_and_those_of_a_set_are_not() {
    let mut builder = current();
    let (builder, log) = hooked(&mut builder);
    let runtime = builder.build_local(LocalOptions::default()).unwrap();
    let task = runtime.spawn_local(yield_now());
    let id = task.id();
    runtime.block_on(task).unwrap();
    assert_eq!(events(&log, id), TWO_POLLS);
    let in_set = runtime.block_on(async {
        let set = LocalSet::new();
        let task = set.spawn_local(async {});
        let id = task.id();
        set.run_until(task).await.unwrap();
        id
    });
    assert_eq!(events(&log, in_set), []);
}

#[test]
fn a_hook_that_panics_harms_no_task() {
    let runtime = multi(2)
        .on_before_task_poll(|_| panic!("polling"))
        .on_after_task_poll(|_| panic!("polled"))
        .on_task_terminate(|_| panic!("ended"))
        .build()
        .unwrap();
    for number in 0..10 {
        let task = async move {
            yield_now().await;
            number
        };
        assert_eq!(run(&runtime, task), number);
    }
}

/// As on tokio, where the task that was not spawned is dropped at the end of the runtime only.
#[test]
fn a_panic_when_a_task_is_spawned_is_told_to_the_caller() {
    for mut builder in [current(), multi(2)] {
        let runtime = builder.on_task_spawn(|_| panic!("spawned")).build().unwrap();
        let shared = Arc::new(());
        let hold = || {
            let held = shared.clone();
            async move { drop(held) }
        };
        assert_eq!(panic_message(|| runtime.spawn(hold())), "spawned");
        let _entered = runtime.enter();
        assert_eq!(panic_message(|| task::spawn(hold())), "spawned");
        assert_eq!(panic_message(|| JoinSet::new().spawn(hold())), "spawned");
        assert_eq!(panic_message(|| runtime.block_on(async { task::spawn(hold()).await })), "spawned");
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 42)).unwrap(), 42);
        assert_eq!(runtime.metrics().num_alive_tasks(), 0);
        assert_eq!(Arc::strong_count(&shared), 1, "no future is left");
    }
    let runtime = current().on_task_spawn(|_| panic!("spawned")).build_local(LocalOptions::default()).unwrap();
    assert_eq!(panic_message(|| runtime.spawn_local(yield_now())), "spawned");
    runtime.block_on(yield_now());
}

#[test]
fn a_hook_may_spawn() {
    let spawned = Arc::new(Mutex::new(0));
    let runtime = current()
        .on_task_terminate({
            let spawned = spawned.clone();
            move |_| {
                let mut spawned = spawned.lock().unwrap();
                if *spawned < 10 {
                    *spawned += 1;
                    drop(spawned);
                    task::spawn(async {});
                }
            }
        })
        .build()
        .unwrap();
    runtime.spawn(async {});
    runtime.block_on(async {
        while *spawned.lock().unwrap() < 10 {
            yield_now().await;
        }
    });
}

#[test]
fn a_blocked_hook_holds_up_no_other_task() {
    let (sender, receiver) = std::sync::mpsc::channel();
    let receiver = Mutex::new(Some(receiver));
    let runtime = multi(1)
        .on_before_task_poll(move |_| {
            let receiver = receiver.lock().unwrap().take();
            if let Some(receiver) = receiver {
                receiver.recv().unwrap();
            }
        })
        .build()
        .unwrap();
    let blocked = runtime.spawn(async {});
    wait_until(|| runtime.metrics().worker_poll_count(0) > 0);
    runtime.block_on(runtime.spawn(async move { sender.send(()).unwrap() })).unwrap();
    runtime.block_on(blocked).unwrap();
}
