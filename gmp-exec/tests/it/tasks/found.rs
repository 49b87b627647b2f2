//! In each test there are tasks in a known state, and the walk must find exactly these.

use std::collections::HashMap;
use std::future::pending;
use std::time::Duration;

use gmp_exec::runtime::{Builder, Handle, Runtime, RuntimeFlavor, TaskInfo, TaskState};
use gmp_exec::task::{Id, JoinHandle, LocalSet, block_in_place, spawn_blocking, spawn_local, yield_now};
use gmp_exec::{spawn, time};

use crate::support::{Flag, Watchdog, current, every_runtime, in_place, multi, wait_until};

fn tasks(handle: &Handle) -> HashMap<Id, TaskInfo> {
    let mut found = HashMap::new();
    for info in handle.tasks() {
        assert!(found.insert(info.id, info.clone()).is_none(), "{info:?} is returned twice");
    }
    found
}

fn state<T>(handle: &Handle, task: &JoinHandle<T>) -> Option<TaskState> {
    tasks(handle).get(&task.id()).map(|info| info.state)
}

fn wait_for<T>(handle: &Handle, task: &JoinHandle<T>, expected: TaskState) -> TaskInfo {
    wait_until(|| state(handle, task) == Some(expected));
    tasks(handle).remove(&task.id()).unwrap_or_else(|| panic!("{task:?} stays {expected:?}"))
}

#[test]
fn a_task_that_waits_is_found_with_its_place_and_its_polls() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        runtime.block_on(async {
            let (line, file) = (line!() + 1, file!());
            let task = spawn(async {
                yield_now().await;
                pending::<()>().await;
            });
            let is_waiting = || state(&Handle::current(), &task) == Some(TaskState::Waiting);
            while !is_waiting() || tasks(&Handle::current())[&task.id()].polls < 2 {
                yield_now().await;
            }
            let found = tasks(&Handle::current());
            let info = &found[&task.id()];
            assert_eq!((info.location.file(), info.location.line()), (file, line));
            assert_eq!((info.polls, info.worker, info.stuck, info.is_blocking), (2, None, None, false));
            assert!(info.age.unwrap() < Duration::from_secs(60));
            assert_eq!(found.len(), 1, "{found:?}");
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
            // The machine may not be out of the poll yet that has dropped the future.
            while !tasks(&Handle::current()).is_empty() {
                yield_now().await;
            }
        });
    }
}

/// An abort handle lists the task before it has waited.
#[test]
fn a_task_that_has_an_abort_handle_and_has_not_waited_has_no_age() {
    let runtime = current().build().unwrap();
    let task = runtime.spawn(async {});
    let _abort = task.abort_handle();
    assert_eq!(tasks(runtime.handle())[&task.id()].age, None);
}

#[test]
fn a_task_finds_itself_running_in_its_first_poll_and_later() {
    for runtime in every_runtime() {
        let task = runtime.spawn(async {
            let find = || tasks(&Handle::current()).remove(&gmp_exec::task::id()).expect("it runs");
            let first = find();
            assert_eq!((first.state, first.polls, first.age), (TaskState::Running, 1, None));
            assert!(first.worker.is_some());
            yield_now().await;
            let second = find();
            assert_eq!((second.state, second.polls), (TaskState::Running, 2));
            assert!(second.worker.is_some() && second.age.is_some());
            first.location.line() == second.location.line()
        });
        assert!(runtime.block_on(task).unwrap());
    }
}

#[test]
fn a_task_that_was_woken_is_scheduled() {
    let runtime = current().build().unwrap();
    let flag = tokio::sync::Notify::new();
    runtime.block_on(async {
        let flag = std::sync::Arc::new(flag);
        let woken = flag.clone();
        let task = spawn(async move { woken.notified().await });
        while state(&Handle::current(), &task) != Some(TaskState::Waiting) {
            yield_now().await;
        }
        flag.notify_one();
        assert_eq!(state(&Handle::current(), &task), Some(TaskState::Scheduled));
        task.await.unwrap();
    });
}

#[test]
fn tasks_that_wait_for_their_first_poll_are_found_in_the_global_queue() {
    let runtime = current().build().unwrap();
    let line = line!() + 1;
    let spawned: Vec<_> = (0..1_000).map(|_| runtime.spawn(async {})).collect();
    let mut walk = runtime.handle().tasks();
    let found: Vec<TaskInfo> = walk.by_ref().collect();
    let ids = |ids: &mut dyn Iterator<Item = Id>| ids.collect::<std::collections::BTreeSet<_>>();
    assert_eq!(ids(&mut found.iter().map(|info| info.id)), ids(&mut spawned.iter().map(JoinHandle::id)));
    let is_new = |info: &TaskInfo| {
        (info.state, info.polls, info.age, info.location.line()) == (TaskState::Scheduled, 0, None, line)
    };
    assert!(found.iter().all(is_new), "{:?}", found[0]);
    assert_eq!((found.len(), walk.unseen()), (1_000, 0));
}

/// The queue moves on between two parts of the walk.
#[test]
fn a_task_that_stays_in_the_global_queue_is_not_missed_while_others_leave_it() {
    let runtime = current().build().unwrap();
    let mut early: Vec<_> = (0..600).map(|_| runtime.spawn(async {})).collect();
    let mut walk = runtime.handle().tasks();
    let first = walk.next().unwrap();
    assert_eq!(first.id, early[0].id());
    runtime.block_on(early.remove(0)).unwrap();
    let late = runtime.spawn(async {});
    let found: Vec<Id> = walk.map(|info| info.id).collect();
    let queued: Vec<Id> = early.iter().filter(|task| !task.is_finished()).map(JoinHandle::id).collect();
    assert!((300..599).contains(&queued.len()), "{}", queued.len());
    assert!(queued.iter().chain([&late.id()]).all(|id| found.contains(id)));
}

#[test]
fn what_is_queued_on_a_worker_for_its_first_poll_is_counted() {
    let runtime = current().build().unwrap();
    runtime.block_on(async {
        let _tasks: Vec<_> = (0..1_000).map(|_| spawn(async {})).collect();
        let mut walk = Handle::current().tasks();
        let found = walk.by_ref().count();
        // The ring has 256 places. What does not fit is found.
        assert_eq!((found, walk.unseen()), (744, 256));
    });
}

#[test]
fn closures_are_found_whether_they_run_or_wait() {
    for mut builder in [current(), multi(1), multi(8), in_place(1), in_place(8)] {
        let runtime = builder.max_blocking_threads(2).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let end = Flag::new();
        let _guard = runtime.enter();
        let closures: Vec<_> = (0..10)
            .map(|_| {
                let end = end.clone();
                spawn_blocking(move || end.wait())
            })
            .collect();
        let count = |expected: TaskState| {
            let found = tasks(runtime.handle());
            assert!(found.values().all(|info| info.is_blocking), "{found:?}");
            found.values().filter(|info| info.state == expected).count()
        };
        wait_until(|| count(TaskState::Running) == 2);
        assert_eq!(count(TaskState::Scheduled), 8);
        let running = tasks(runtime.handle()).into_values().find(|info| info.state == TaskState::Running).unwrap();
        assert_eq!((running.location.file(), running.polls), (file!(), 1));
        end.set();
        for closure in closures {
            runtime.block_on(closure).unwrap();
        }
        wait_until(|| tasks(runtime.handle()).is_empty());
    }
}

#[test]
fn tasks_of_a_local_set_belong_to_the_runtime_that_polls_the_set() {
    for (runtime, other) in every_runtime().into_iter().zip(every_runtime()) {
        let set = LocalSet::new();
        set.block_on(&runtime, async {
            let handle = Handle::current();
            let waiting = spawn_local(pending::<()>());
            let line = line!() + 1;
            let seen_by_itself = spawn_local(async {
                let find = || tasks(&Handle::current()).remove(&gmp_exec::task::id()).expect("it runs");
                let first = find();
                yield_now().await;
                (first, find())
            });
            let queued = &tasks(&handle)[&seen_by_itself.id()];
            assert_eq!((queued.state, queued.polls, queued.age), (TaskState::Scheduled, 0, None));
            let (first, second) = seen_by_itself.await.unwrap();
            assert_eq!((first.state, first.polls, first.age), (TaskState::Running, 1, None));
            // On the multi-thread flavour `block_on` has no worker.
            let worker = (runtime.handle().runtime_flavor() == RuntimeFlavor::CurrentThread).then_some(0);
            assert_eq!((second.state, second.polls, second.worker), (TaskState::Running, 2, worker));
            assert_eq!((first.location.file(), first.location.line()), (file!(), line));
            assert!(second.age.is_some());
            assert_eq!(state(&handle, &waiting), Some(TaskState::Waiting));
        });
        assert_eq!(tasks(runtime.handle()).len(), 1);
        assert_eq!(tasks(other.handle()).len(), 0);
        drop(set);
        assert_eq!(tasks(runtime.handle()).len(), 0);
    }
}

/// The queue of a set belongs to its thread.
#[test]
fn tasks_of_a_local_set_are_found_from_outside_while_one_of_them_holds_the_thread() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let (began, end) = (Flag::new(), Flag::new());
        let asking = std::thread::spawn({
            let (handle, began, end) = (runtime.handle().clone(), began.clone(), end.clone());
            move || {
                began.wait();
                let mut walk = handle.tasks();
                let found: Vec<TaskInfo> = walk.by_ref().collect();
                end.set();
                (found, walk.unseen())
            }
        });
        LocalSet::new().block_on(&runtime, async {
            let holds = spawn_local(async move {
                began.set();
                end.wait();
            });
            let _behind: Vec<_> = (0..100).map(|_| spawn_local(async {})).collect();
            holds.await.unwrap();
        });
        let (found, unseen) = asking.join().unwrap();
        let count = |state| found.iter().filter(|info| info.state == state).count();
        assert_eq!((count(TaskState::Running), count(TaskState::Scheduled), unseen), (1, 100, 0), "{found:?}");
    }
}

#[test]
fn tasks_of_a_local_runtime_are_found_before_it_runs() {
    let runtime = Builder::new_current_thread().build_local(Default::default()).unwrap();
    let task = runtime.spawn_local(async {});
    assert_eq!(state(runtime.handle(), &task), Some(TaskState::Scheduled));
    runtime.block_on(task).unwrap();
    assert_eq!(tasks(runtime.handle()).len(), 0);
}

#[test]
fn tasks_are_found_while_every_processor_is_stuck() {
    let runtime = multi(2).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let handle = runtime.handle();
    let waiting: Vec<_> = (0..1_000).map(|_| runtime.spawn(pending::<()>())).collect();
    let is_waiting = |info: &TaskInfo| info.state == TaskState::Waiting;
    wait_until(|| tasks(handle).values().filter(|info| is_waiting(info)).count() == waiting.len());
    let end = Flag::new();
    let (blocked_line, computes_line) = (line!() + 4, line!() + 9);
    for _ in 0..4 {
        let end = end.clone();
        #[rustfmt::skip]
        runtime.spawn(async move { end.wait() });
    }
    for _ in 0..4 {
        let end = end.clone();
        #[rustfmt::skip]
        runtime.spawn(async move { end.busy_wait() });
    }
    let stuck = || -> Vec<TaskInfo> { tasks(handle).into_values().filter(|info| info.stuck.is_some()).collect() };
    let at = |line: u32| stuck().iter().filter(|info| info.location.line() == line).count();
    wait_until(|| at(blocked_line) == 4 && at(computes_line) >= 1);
    assert!(stuck().iter().all(|info| info.state == TaskState::Running && info.location.file() == file!()));
    assert_eq!(tasks(handle).values().filter(|info| is_waiting(info)).count(), waiting.len());
    let longest = stuck().iter().map(|info| info.stuck.unwrap()).max().unwrap();
    wait_until(|| stuck().iter().any(|info| info.stuck.unwrap() > longest));
    end.set();
    wait_until(|| tasks(handle).len() == waiting.len());
}

/// With sysmon, threads that hold a declared section are not stuck.
#[test]
fn a_blocking_section_is_not_stuck() {
    let runtime = multi(1).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let (begun, end) = (Flag::new(), Flag::new());
    let (begins, ends) = (begun.clone(), end.clone());
    let task = runtime.spawn(async move {
        block_in_place(|| {
            begins.set();
            ends.wait();
        });
    });
    begun.wait();
    let info = wait_for(runtime.handle(), &task, TaskState::Running);
    assert_eq!((info.stuck, info.is_blocking), (None, false));
    end.set();
    runtime.block_on(task).unwrap();
}

#[test]
fn the_root_future_is_no_task_and_hides_no_task() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let ended = spawn(async {});
        let task = spawn(time::sleep(Duration::from_secs(3_600)));
        ended.await.unwrap();
        while state(&Handle::current(), &task) != Some(TaskState::Waiting) {
            yield_now().await;
        }
        // The machine has polled tasks before. It polls none of them now.
        assert_eq!(tasks(&Handle::current()).len(), 1);
    });
}

#[test]
fn a_runtime_that_has_ended_has_no_tasks() {
    let handle = {
        let runtime = Runtime::new().unwrap();
        runtime.spawn(pending::<()>());
        runtime.handle().clone()
    };
    let mut walk = handle.tasks();
    assert_eq!((walk.by_ref().count(), walk.unseen()), (0, 0));
}
