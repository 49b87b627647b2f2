//! The recorder: what is in a snapshot, as an independent decoder reads it.

mod decoder;
mod files;
mod roll;

use std::collections::HashSet;
use std::future::poll_fn;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{LocalSet, block_in_place, spawn_local, yield_now};
use gmp_exec::time::sleep;
use gmp_exec::trace::{Recorder, Snapshot, mark};

pub(crate) use self::decoder::{Decoded, decode};
use self::decoder::{Instant, Slice};
use crate::support::{FOREVER, compute_for, current, every_runtime, multi, run, wait_until};

fn decoded(snapshot: &Snapshot) -> Decoded {
    let mut file = Vec::new();
    snapshot.write_perfetto(&mut file).unwrap();
    decode(&file)
}

fn recorded(runtime: &Runtime) -> Recorder {
    Recorder::start(runtime.handle()).unwrap()
}

#[test]
fn each_poll_is_recorded_with_its_task_its_place_and_what_it_left() {
    for runtime in every_runtime() {
        let recorder = recorded(&runtime);
        let line = line!() + 1;
        let task = runtime.spawn(async {
            yield_now().await;
            sleep(Duration::from_millis(1)).await;
        });
        let id: u64 = task.id().to_string().parse().unwrap();
        runtime.block_on(task).unwrap();
        // The end of the last poll comes after the task's result.
        let mut trace = None;
        wait_until(|| {
            let decoded = decoded(&recorder.snapshot());
            let is_over = decoded.polls().any(|poll| poll.task == Some(id) && poll.left.as_deref() == Some("done"));
            trace = Some(decoded);
            is_over
        });
        let trace = trace.unwrap();
        let polls: Vec<_> = trace.polls().filter(|poll| poll.task == Some(id)).collect();
        let left: Vec<_> = polls.iter().map(|poll| poll.left.as_deref().unwrap()).collect();
        // On a current-thread runtime, the wake-up of a task that yields comes after the poll.
        let yielded = if left[0] == "waiting" { "waiting" } else { "woken" };
        assert_eq!(left, [yielded, "waiting", "done"]);
        for poll in polls {
            let location = poll.location.as_ref().unwrap();
            assert!(location.file_name.ends_with("trace/mod.rs"), "{location:?}");
            assert_eq!(location.line_number, line);
            assert_eq!(poll.name, format!("{}:{line}", location.file_name));
        }
        assert_eq!(trace.count(&format!("spawn {}:{line}", file!())), 1);
        let wakes = trace.instants.iter().filter(|instant| instant.task == Some(id));
        assert_eq!(wakes.count(), 3, "spawned, woken by itself, and woken by a timer: {:?}", trace.instants);
    }
}

/// On the processor, or on a track of its own.
#[test]
fn the_future_of_block_on_is_recorded_with_the_place_of_the_call_and_what_woke_it() {
    for runtime in every_runtime() {
        let recorder = recorded(&runtime);
        let line = line!() + 1;
        runtime.block_on(woken_by_a_task());
        let mut trace = decoded(&recorder.snapshot());
        // The task's last poll may end after it has woken the future. The end of `block_on` is not
        // that of a task.
        wait_until(|| {
            trace = decoded(&recorder.snapshot());
            trace.counters.get("tasks").is_some_and(|tasks| tasks.iter().map(|(_, tasks)| *tasks).max() == Some(1))
        });
        let name = format!("block_on {}:{line}", file!());
        let polls: Vec<_> = trace.slices.iter().filter(|slice| slice.name == name).collect();
        assert_eq!(polls.len(), 2, "{:?}", trace.slices);
        let id = polls[0].task;
        for poll in &polls {
            assert_eq!(poll.task, id);
            assert!(poll.track == "P0" && poll.left.is_some() || poll.track == "block_on 1", "{poll:?}");
        }
        let wakes = trace.instants.iter().filter(|instant| instant.task == id && instant.name == "wake").count();
        assert_eq!(wakes, 1, "{:?}", trace.instants);
    }
}

/// Waits until a task, which waits for this, has woken it once.
async fn woken_by_a_task() {
    let waker = Arc::new(Mutex::new(None::<Waker>));
    gmp_exec::spawn({
        let waker = waker.clone();
        async move {
            while waker.lock().unwrap().is_none() {
                yield_now().await;
            }
            waker.lock().unwrap().take().unwrap().wake();
        }
    });
    let mut is_woken = false;
    poll_fn(|cx| {
        if !is_woken {
            *waker.lock().unwrap() = Some(cx.waker().clone());
        }
        if std::mem::replace(&mut is_woken, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[test]
fn each_call_of_block_on_goes_on_with_the_track_of_those_before() {
    for runtime in every_runtime() {
        let recorder = recorded(&runtime);
        (0..1_000).for_each(|_| runtime.block_on(async {}));
        let trace = decoded(&recorder.snapshot());
        let polls: Vec<_> = trace.slices.iter().filter(|slice| slice.name.starts_with("block_on ")).collect();
        assert_eq!(polls.len(), 1_000);
        assert!(polls.iter().all(|poll| poll.track == polls[0].track));
    }
}

#[test]
fn closures_of_a_current_thread_runtime_are_on_tracks_of_their_threads() {
    let runtime = current().build().unwrap();
    let recorder = recorded(&runtime);
    let line = line!() + 1;
    let closure = runtime.spawn_blocking(|| thread::sleep(Duration::from_millis(2)));
    let id: u64 = closure.id().to_string().parse().unwrap();
    runtime.block_on(closure).unwrap();
    let mut ran = None;
    wait_until(|| {
        let slices = decoded(&recorder.snapshot()).slices;
        ran = slices.into_iter().find(|slice| slice.task == Some(id) && slice.end.is_some());
        ran.is_some()
    });
    let ran = ran.unwrap();
    assert_eq!((&*ran.track, &*ran.name), ("closures 1", &*format!("{}:{line}", file!())));
    assert!(ran.end.unwrap() - ran.begin >= 2_000_000);
}

/// The thread of a closure waits for the next one: that is no part of either.
#[test]
fn a_closure_of_the_pool_begins_after_it_was_spawned() {
    let runtime = current().build().unwrap();
    let recorder = recorded(&runtime);
    runtime.block_on(async {
        for _ in 0..10 {
            compute_for(Duration::from_millis(2));
            mark("spawns");
            gmp_exec::task::spawn_blocking(|| ()).await.unwrap();
        }
    });
    let trace = decoded(&recorder.stop());
    let spawned: Vec<u64> = trace.instants.iter().filter(|mark| mark.name == "spawns").map(|mark| mark.at).collect();
    let closures = trace.slices.iter().filter(|slice| slice.track.starts_with("closures "));
    let begun: Vec<u64> = closures.map(|closure| closure.begin).collect();
    assert_eq!((spawned.len(), begun.len()), (10, 10));
    assert!(spawned.iter().zip(&begun).all(|(spawned, begun)| spawned <= begun), "{spawned:?}, {begun:?}");
}

/// The first event that is left may be any: the processor follows from each.
#[test]
fn a_cut_recording_of_a_current_thread_runtime_knows_its_processor() {
    let runtime = current().build().unwrap();
    let recorder = Recorder::start_with_size(runtime.handle(), 4 << 10).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            runtime.block_on(async {
                while !is_over.load(SeqCst) {
                    sleep(Duration::from_micros(10)).await;
                }
            });
        });
        for _ in 0..50 {
            let before = recorder.snapshot().overwritten();
            wait_until(|| recorder.snapshot().overwritten() > before + 10);
            let slices = decoded(&recorder.snapshot()).slices;
            let elsewhere = slices.iter().find(|slice| slice.category == "poll" && slice.track != "P0");
            assert!(elsewhere.is_none(), "{elsewhere:?}");
        }
        is_over.store(true, SeqCst);
    });
}

/// Ten thousand tasks that wake each other. The rings have room for all events.
#[test]
fn each_wake_up_leads_to_its_poll() {
    let runtime = multi(4).build().unwrap();
    let recorder = recorded(&runtime);
    run(&runtime, async {
        let tasks: Vec<_> = (0..10_000).map(|_| gmp_exec::spawn(async { yield_now().await })).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    // A task that is awaited may still be in its last poll.
    wait_until(|| runtime.metrics().num_idle_workers() == 4);
    let snapshot = recorder.stop();
    assert_eq!(snapshot.overwritten(), 0);
    let trace = decoded(&snapshot);
    let (begins, ends): (HashSet<_>, HashSet<_>) =
        (trace.flow_begins.keys().copied().collect(), trace.flow_ends.keys().copied().collect());
    assert_eq!(begins, ends, "each flow has both ends");
    assert!(trace.flow_begins.iter().all(|(flow, at)| *at <= trace.flow_ends[flow]));
    let polls = trace.polls().count();
    assert!(polls >= 20_000, "{polls} polls");
    // The poll of a known hog has a wake-up too, and no processor.
    assert!(begins.len() >= polls, "nothing was cut, so each poll has a wake-up: {} of {polls}", begins.len());
    assert_eq!(trace.counters["tasks"].iter().map(|(_, tasks)| *tasks).min(), Some(0));
}

#[test]
fn what_was_overwritten_is_cut_and_the_rest_is_consistent() {
    let runtime = multi(2).build().unwrap();
    let recorder = Recorder::start_with_size(runtime.handle(), 16 << 10).unwrap();
    let is_over = Arc::new(AtomicBool::new(false));
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let is_over = is_over.clone();
            runtime.spawn(async move {
                while !is_over.load(SeqCst) {
                    yield_now().await;
                }
            })
        })
        .collect();
    wait_until(|| recorder.snapshot().overwritten() > 10_000);
    for _ in 0..50 {
        let snapshot = recorder.snapshot();
        let trace = decoded(&snapshot);
        assert!(trace.flow_ends.keys().all(|flow| trace.flow_begins.contains_key(flow)));
        assert_eq!(trace.flow_begins.len(), trace.flow_ends.len());
        assert!(snapshot.duration() > Duration::ZERO);
        let lost = trace.instants.iter().filter(|instant| instant.name == "events lost");
        let missing: u64 = lost.map(|instant| instant.count.unwrap()).sum();
        assert_eq!(missing, snapshot.overwritten(), "{:?}", trace.instants);
        // Before, a poll may have come of a wake-up that is missing.
        let complete = trace.instants.iter().filter(|instant| instant.name == "complete from here");
        let since = complete.map(|instant| instant.at).max().unwrap();
        assert!(trace.flow_begins.values().all(|at| *at >= since), "a flow begins before {since}");
    }
    is_over.store(true, SeqCst);
    tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
}

/// The end of a take's name.
const SLEEPS: &str = " taken: the thread sleeps";

/// Takes are kept with what threads outside of the runtime do. One of them spawns until the take is
/// overwritten, while the poll goes on that has lost its processor.
#[test]
fn a_poll_that_blocks_leaves_its_processor_even_if_the_take_is_overwritten() {
    let runtime = multi(2).build().unwrap();
    let recorder = Recorder::start_with_size(runtime.handle(), 16 << 10).unwrap();
    let (end, ended) = mpsc::channel::<()>();
    let task = runtime.spawn(async move { ended.recv().unwrap_err() });
    // Work that waits: without it the processor stays with the thread that sleeps.
    let compute = || (0..2).for_each(|_| drop(runtime.spawn(async { compute_for(Duration::from_millis(50)) })));
    let id: u64 = task.id().to_string().parse().unwrap();
    let mut machine = None;
    wait_until(|| {
        compute();
        let trace = decoded(&recorder.snapshot());
        machine = trace.instants.into_iter().find(|instant| instant.name.ends_with(SLEEPS)).map(|take| take.track);
        machine.is_some()
    });
    let mut trace = None;
    wait_until(|| {
        (0..100).for_each(|_| drop(runtime.spawn(async {})));
        // The decoder refuses polls inside others.
        let decoded = decoded(&recorder.snapshot());
        let is_take = |instant: &&Instant| Some(&instant.track) == machine.as_ref() && instant.name.ends_with(SLEEPS);
        let is_overwritten = !decoded.instants.iter().any(|instant| is_take(&instant));
        trace = Some(decoded);
        is_overwritten
    });
    drop(end);
    runtime.block_on(task).unwrap();
    let trace = trace.unwrap();
    let polls: Vec<_> =
        trace.slices.iter().filter(|slice| slice.category == "poll" && slice.task == Some(id)).collect();
    let under_way: Vec<_> = polls.iter().filter(|poll| poll.end.is_none()).map(|poll| poll.track.as_str()).collect();
    assert_eq!(under_way, [machine.unwrap()], "{polls:?}");
}

/// The computer may stop the thread between two polls, so the best of several attempts counts.
#[test]
fn polls_add_up_to_the_time_in_which_the_processor_was_busy() {
    let attempt = || {
        let runtime = multi(1).build().unwrap();
        let recorder = recorded(&runtime);
        run(&runtime, async {
            for _ in 0..100 {
                compute_for(Duration::from_millis(1));
                yield_now().await;
            }
        });
        let metrics = runtime.metrics();
        wait_until(|| metrics.num_idle_workers() == 1);
        let busy = metrics.worker_total_busy_duration(0).as_secs_f64();
        let trace = decoded(&recorder.stop());
        let polls = trace.polls().map(|poll| poll.end.unwrap() - poll.begin).sum::<u64>() as f64 / 1e9;
        (polls / busy - 1.0).abs()
    };
    let error = (0..20).map(|_| attempt()).find(|error| *error < 0.01);
    assert!(error.is_some(), "polls and busy time differ by more than 1 % each time");
}

#[test]
fn a_poll_that_blocks_goes_on_without_its_processor() {
    let runtime = multi(2).build().unwrap();
    let recorder = recorded(&runtime);
    let line = line!() + 1;
    let task = runtime.spawn(async { thread::sleep(Duration::from_millis(200)) });
    // Work that waits: without it the processor stays with the thread that sleeps.
    let busy: Vec<_> = (0..2).map(|_| runtime.spawn(async { compute_for(Duration::from_millis(100)) })).collect();
    runtime.block_on(task).unwrap();
    busy.into_iter().for_each(|task| runtime.block_on(task).unwrap());
    let name = format!("{}:{line}", file!());
    let taken = |processor: usize| format!("P{processor} taken: the thread sleeps");
    let mut trace = None;
    wait_until(|| {
        let decoded = decoded(&recorder.snapshot());
        let is_without = |slice: &&Slice| slice.track.starts_with('M') && slice.name == name;
        let is_over = decoded.slices.iter().find(is_without).is_some_and(|slice| slice.end.is_some());
        trace = Some(decoded);
        is_over
    });
    let trace = trace.unwrap();
    assert!(trace.count(&taken(0)) + trace.count(&taken(1)) > 0, "{:?}", trace.instants);
    let on_processor = trace.polls().find(|poll| poll.name == name).unwrap();
    let without = trace.slices.iter().find(|slice| slice.track.starts_with('M') && slice.name == name).unwrap();
    assert_eq!(on_processor.end, Some(without.begin), "the one ends where the other begins");
    assert_eq!(on_processor.left, None, "the poll went on");
    assert_eq!(without.left.as_deref(), Some("done"));
}

/// On the processor of a current-thread runtime, or on the track of `block_on`.
#[test]
fn tasks_of_a_local_set_are_recorded_inside_the_poll_of_the_set() {
    for runtime in every_runtime() {
        let recorder = recorded(&runtime);
        let line = line!() + 3;
        let set = LocalSet::new();
        let (id, woken) = set.block_on(&runtime, async move {
            let task = spawn_local(async {
                yield_now().await;
                woken_by_a_task().await;
            });
            let id: u64 = task.id().to_string().parse().unwrap();
            task.await.unwrap();
            (id, spawn_local(async {}).id())
        });
        let trace = decoded(&recorder.snapshot());
        let polls: Vec<_> = trace.slices.iter().filter(|slice| slice.task == Some(id)).collect();
        let left: Vec<_> = polls.iter().map(|poll| poll.left.as_deref().unwrap()).collect();
        // As of other tasks: a wake-up may come after the poll, or from another thread during it.
        assert!(matches!(left[..], ["woken" | "waiting", "woken" | "waiting", "done"]), "{left:?}");
        for poll in &polls {
            assert_eq!((&*poll.category, &*poll.name), ("local poll", &*format!("{}:{}", file!(), line)));
            let around = trace.slices.iter().find(|outer| {
                outer.category == "poll"
                    && outer.track == poll.track
                    && outer.begin <= poll.begin
                    && outer.end >= poll.end
            });
            assert!(around.is_some_and(|outer| outer.name.starts_with("block_on ")), "{poll:?}: {around:?}");
        }
        assert_eq!(trace.count(&format!("spawn {}:{line}", file!())), 1);
        let wakes = trace.instants.iter().filter(|instant| instant.task == Some(id));
        assert_eq!(wakes.count(), 3, "spawned, woken by itself, and woken by a task: {:?}", trace.instants);
        let flows = trace.flow_ends.len();
        assert!(flows >= 3 && trace.flow_ends.keys().all(|flow| trace.flow_begins.contains_key(flow)), "{flows} flows");
        assert_ne!(woken.to_string(), id.to_string());
    }
}

/// The first event that is left may be any.
#[test]
fn a_cut_recording_of_a_local_set_is_consistent() {
    for runtime in every_runtime() {
        let recorder = Recorder::start_with_size(runtime.handle(), 4 << 10).unwrap();
        LocalSet::new().block_on(&runtime, async {
            for _ in 0..20 {
                let tasks: Vec<_> = (0..37).map(|_| spawn_local(async { yield_now().await })).collect();
                for task in tasks {
                    task.await.unwrap();
                }
                assert!(!decoded(&recorder.snapshot()).slices.is_empty());
            }
        });
        assert!(recorder.stop().overwritten() > 0);
    }
}

/// Which line it was says the feature `blocked-stacks`.
#[test]
#[cfg(target_os = "linux")]
fn a_poll_that_sleeps_has_the_system_call_and_the_stack() {
    let runtime = multi(2).build().unwrap();
    let recorder = recorded(&runtime);
    let is_over = Arc::new(AtomicBool::new(false));
    let task = runtime.spawn({
        let is_over = is_over.clone();
        async move { sleeps_until(&is_over) }
    });
    let id: u64 = task.id().to_string().parse().unwrap();
    let busy: Vec<_> = (0..2).map(|_| runtime.spawn(async { compute_for(Duration::from_millis(100)) })).collect();
    let mut polls = Vec::new();
    wait_until(|| {
        polls = decoded(&recorder.snapshot()).slices;
        polls.retain(|slice| slice.task == Some(id));
        // On the track of the processor, and on that of the machine, which goes on without it.
        polls.len() == 2 && polls.iter().all(|poll| poll.asleep_in.is_some())
    });
    is_over.store(true, SeqCst);
    for poll in &polls {
        assert_eq!(poll.asleep_in.as_deref(), Some("clock_nanosleep"), "{poll:?}");
        let is_named = poll.stack.iter().any(|frame| frame.contains("sleeps_until"));
        assert_eq!(
            is_named,
            cfg!(all(feature = "blocked-stacks", any(target_arch = "x86_64", target_arch = "aarch64"))),
            "{poll:?}"
        );
    }
    for task in busy.into_iter().chain([task]) {
        runtime.block_on(task).unwrap();
    }
    let others = decoded(&recorder.stop()).slices;
    let others = others.iter().filter(|slice| slice.task != Some(id) && slice.asleep_in.is_some());
    assert_eq!(others.count(), 0, "no other task was seen asleep");
}

#[inline(never)]
fn sleeps_until(is_over: &AtomicBool) {
    while !is_over.load(SeqCst) {
        thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn sections_and_sleeping_threads_are_on_the_tracks_of_machines() {
    let runtime = multi(2).build().unwrap();
    let recorder = recorded(&runtime);
    run(&runtime, async {
        block_in_place(|| thread::sleep(Duration::from_millis(5)));
        sleep(Duration::from_millis(5)).await;
    });
    let mut names = HashSet::new();
    wait_until(|| {
        let slices = decoded(&recorder.snapshot()).slices;
        names = slices.into_iter().filter(|slice| slice.track.starts_with('M')).map(|slice| slice.name).collect();
        let is_told = |name| names.contains(name);
        is_told("blocking section") && is_told("in the netpoll") && (is_told("P0") || is_told("P1"))
    });
}

#[test]
fn marks_show_who_has_made_them() {
    let runtime = multi(2).build().unwrap();
    mark("outside of a runtime");
    let recorder = recorded(&runtime);
    let task = runtime.spawn(async { mark("in a task") });
    let id: u64 = task.id().to_string().parse().unwrap();
    runtime.block_on(async {
        mark("in block_on");
        task.await.unwrap();
    });
    let trace = decoded(&recorder.stop());
    mark("after the end");
    let find = |name| trace.instants.iter().find(|instant| instant.name == name);
    assert_eq!(find("in a task").unwrap().task, Some(id));
    assert!(find("in a task").unwrap().track.starts_with('P'));
    assert_eq!(find("in block_on").unwrap().track, "other threads");
    assert!(find("outside of a runtime").is_none() && find("after the end").is_none());
}

#[test]
fn a_runtime_has_one_recorder_at_a_time() {
    for runtime in [current().build().unwrap(), multi(2).build().unwrap()] {
        let recorder = recorded(&runtime);
        let error = Recorder::start(runtime.handle()).unwrap_err();
        assert_eq!(error.to_string(), "the runtime is recorded already");
        runtime.block_on(runtime.spawn(async {})).unwrap();
        assert!(!recorder.stop().is_empty());
        let second = recorded(&runtime);
        runtime.block_on(runtime.spawn(async { mark("second") })).unwrap();
        assert_eq!(decoded(&second.stop()).count("second"), 1);
    }
}

#[test]
fn a_size_that_is_not_allowed_is_named_with_what_is() {
    let runtime = current().build().unwrap();
    for size in [0, 4_095, (1 << 30) + 1, usize::MAX] {
        let error = Recorder::start_with_size(runtime.handle(), size).unwrap_err().to_string();
        assert_eq!(error, format!("a size of {size} bytes per thread; allowed are 4096 to 1073741824"));
    }
    assert!(Recorder::start_with_size(runtime.handle(), 4_096).is_ok());
}

/// A machine that is inside a long poll when the recording starts is recorded from its next turn
/// on, and one that sleeps from its next processor on.
#[test]
fn a_recording_may_start_at_any_time() {
    let runtime = multi(2).build().unwrap();
    let (begun, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let task = {
        let (begun, is_over) = (begun.clone(), is_over.clone());
        runtime.spawn(async move {
            begun.store(true, SeqCst);
            wait_until(|| is_over.load(SeqCst));
            for _ in 0..10 {
                yield_now().await;
            }
        })
    };
    wait_until(|| begun.load(SeqCst));
    let id: u64 = task.id().to_string().parse().unwrap();
    let recorder = recorded(&runtime);
    is_over.store(true, SeqCst);
    runtime.block_on(task).unwrap();
    let trace = decoded(&recorder.stop());
    let polls = trace.polls().filter(|poll| poll.task == Some(id)).count();
    assert!(polls >= 8, "{polls} of 10");
}

#[test]
fn the_end_of_the_runtime_ends_neither_the_recorder_nor_a_snapshot() {
    let runtime = multi(2).build().unwrap();
    let recorder = recorded(&runtime);
    runtime.spawn(async { sleep(FOREVER).await });
    runtime.block_on(runtime.spawn(async {})).unwrap();
    drop(runtime);
    assert!(!decoded(&recorder.snapshot()).slices.is_empty());
}

/// The machine is used again, and must notice each start and stop.
#[test]
fn a_recording_between_two_calls_of_block_on_has_what_a_later_one_has_not() {
    let runtime = current().build().unwrap();
    runtime.block_on(yield_now());
    for _ in 0..2 {
        let recorder = recorded(&runtime);
        let recorded: Vec<u64> = (0..2).map(|_| poll_a_task(&runtime)).collect();
        let trace = decoded(&recorder.stop());
        let later = poll_a_task(&runtime);
        let has = |task: u64| trace.polls().any(|poll| poll.task == Some(task) && poll.left.as_deref() == Some("done"));
        assert!(recorded.into_iter().all(has));
        assert!(!has(later));
    }
}

fn poll_a_task(runtime: &Runtime) -> u64 {
    let task = runtime.spawn(async {});
    let id = task.id().to_string().parse().unwrap();
    runtime.block_on(task).unwrap();
    id
}
