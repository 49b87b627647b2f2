//! The tree of tasks: who waits for whom, the tasks of sets included.

use std::future::{pending, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use gmp_exec::runtime::{Runtime, TaskInfo, TaskState, WaitsFor};
use gmp_exec::task::{Builder, Id, JoinSet, LocalSet, spawn_local, yield_now};
use gmp_exec::{spawn, time};

use crate::support::{Flag, Watchdog, every_runtime, multi, wait_until};

/// The tree as pairs: how deep a task stands, and its id.
fn tree(runtime: &Runtime) -> Vec<(usize, String)> {
    let text = runtime.handle().tasks().tree().to_string();
    let line = |line: &str| {
        let task = line.trim_start();
        let id = task.trim_start_matches("task ").split([',', ' ']).next().unwrap();
        ((line.len() - task.len()) / 2, id.to_owned())
    };
    text.lines().map(line).collect()
}

/// Turns the runtime until the tree is as expected.
#[track_caller]
fn expect(runtime: &Runtime, expected: &[(usize, Id)]) {
    let expected: Vec<_> = expected.iter().map(|(depth, id)| (*depth, id.to_string())).collect();
    wait_until(|| {
        runtime.block_on(yield_now());
        tree(runtime) == expected
    });
}

/// A set that several tasks use.
type Shared = Arc<Mutex<JoinSet<()>>>;

fn share(runtime: &Runtime, tasks: usize) -> (Shared, Vec<Id>) {
    let mut set = JoinSet::new();
    let ids = (0..tasks).map(|_| set.spawn_on(pending::<()>(), runtime.handle()).id()).collect();
    (Arc::new(Mutex::new(set)), ids)
}

/// Polls the set once, and never ends.
fn wait_for(runtime: &Runtime, set: &Shared) -> Id {
    let set = set.clone();
    runtime.spawn(poll_fn(move |cx| set.lock().unwrap().poll_join_next(cx).map(drop))).id()
}

fn waits(runtime: &Runtime, id: Id) -> Vec<WaitsFor> {
    let is_it = |info: &TaskInfo| info.id == id && info.state == TaskState::Waiting;
    wait_until(|| {
        runtime.block_on(yield_now());
        runtime.handle().tasks().any(|info| is_it(&info))
    });
    runtime.handle().tasks().find(is_it).unwrap().waits_for
}

#[test]
fn the_tasks_of_a_set_stand_below_the_one_that_waits_for_the_set() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let end = runtime.spawn(pending::<()>());
        let ends = end.id();
        let mut set = JoinSet::new();
        let first = set.spawn_on(pending(), runtime.handle()).id();
        let joins = set.spawn_on(async { end.await.unwrap() }, runtime.handle()).id();
        let waiter = runtime.spawn(async move { set.join_next().await.is_some() }).id();
        // What waits for a task itself comes first.
        expect(&runtime, &[(0, waiter), (1, joins), (2, ends), (1, first)]);
    }
}

#[test]
fn a_set_that_changes_while_it_is_waited_for_is_shown_as_it_is() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let (set, ids) = share(&runtime, 2);
        let waiter = wait_for(&runtime, &set);
        expect(&runtime, &[(0, waiter), (1, ids[0]), (1, ids[1])]);
        let third = set.lock().unwrap().spawn_on(pending(), runtime.handle()).id();
        expect(&runtime, &[(0, waiter), (1, ids[0]), (1, ids[1]), (1, third)]);
        assert_eq!(waits(&runtime, waiter), [WaitsFor::AnyOf(3)]);
        set.lock().unwrap().detach_all();
        expect(&runtime, &[]);
        assert_eq!(waits(&runtime, waiter), [WaitsFor::AnyOf(0)]);
    }
}

#[test]
fn a_task_that_was_joined_is_replaced_by_one_that_came_after_it() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let end = Flag::new();
        let ends = end.clone();
        let mut set = JoinSet::new();
        let stays = set.spawn_on(pending(), runtime.handle()).id();
        let goes = set.spawn_on(
            async move {
                while !ends.is_set() {
                    yield_now().await;
                }
            },
            runtime.handle(),
        );
        let (sender, receiver) = std::sync::mpsc::channel();
        let waiter = runtime.spawn(async move {
            set.join_next().await.unwrap().unwrap();
            sender.send(set.spawn(pending()).id()).unwrap();
            set.join_next().await
        });
        expect(&runtime, &[(0, waiter.id()), (1, stays), (1, goes.id())]);
        end.set();
        wait_until(|| {
            runtime.block_on(yield_now());
            goes.is_finished()
        });
        let mut comes = None;
        wait_until(|| {
            runtime.block_on(yield_now());
            comes = comes.or(receiver.try_recv().ok());
            comes.is_some()
        });
        expect(&runtime, &[(0, waiter.id()), (1, stays), (1, comes.unwrap())]);
        assert_eq!(waits(&runtime, waiter.id()), [WaitsFor::AnyOf(2)]);
    }
}

/// A later set may be at the same address.
#[test]
fn a_set_that_was_dropped_is_not_mistaken_for_a_later_one() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let set = Arc::new(Mutex::new(Some(JoinSet::new())));
        let with_set = |set: &Arc<Mutex<Option<JoinSet<()>>>>| {
            let set = set.clone();
            runtime.spawn(poll_fn(move |cx| match &mut *set.lock().unwrap() {
                Some(set) => set.poll_join_next(cx).map(drop),
                None => Poll::Pending,
            }))
        };
        set.lock().unwrap().as_mut().unwrap().spawn_on(pending(), runtime.handle());
        let waiter = with_set(&set).id();
        assert_eq!(waits(&runtime, waiter), [WaitsFor::AnyOf(1)]);
        let mut dropped = set.lock().unwrap().take().unwrap();
        // The end of an aborted task would wake the one that waits.
        dropped.detach_all();
        drop(dropped);
        let (later, ids) = share(&runtime, 2);
        let waits_later = wait_for(&runtime, &later);
        expect(&runtime, &[(0, waits_later), (1, ids[0]), (1, ids[1])]);
        assert_eq!(waits(&runtime, waiter), [WaitsFor::AnyOf(0)]);
    }
}

#[test]
fn tasks_of_a_local_set_in_a_join_set() {
    for runtime in every_runtime() {
        let _watchdog = Watchdog::of(&runtime);
        let local = LocalSet::new();
        let ids = local.block_on(&runtime, async {
            let mut set = JoinSet::new();
            let member = set.spawn_local(pending::<()>()).id();
            let waiter = spawn_local(async move { set.join_next().await.is_some() }).id();
            yield_now().await;
            [waiter, member]
        });
        assert_eq!(tree(&runtime), [(0, ids[0].to_string()), (1, ids[1].to_string())]);
    }
}

/// A dump looks at sets that are made, changed and dropped on other threads. A member of a set
/// always stands below the task that waits for this set.
#[test]
fn dumps_beside_sets_that_come_and_go() {
    let runtime = multi(4).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    let end = Flag::new();
    let makers: Vec<_> = (0..8).map(|maker| runtime.spawn(make_sets(maker, end.clone()))).collect();
    let mut members = 0;
    for _ in 0..300 {
        members += check(&runtime.handle().tasks().tree().to_string());
    }
    end.set();
    for maker in makers {
        runtime.block_on(maker).unwrap();
    }
    assert!(members > 0, "no dump has seen a member");
}

async fn make_sets(maker: usize, end: Flag) {
    let mut turn = 0;
    while !end.is_set() {
        turn += 1;
        let of_set = format!("{maker}/{turn}");
        let waits = Builder::new().name(&of_set).spawn(join_some(of_set.clone())).unwrap();
        waits.await.unwrap();
    }
}

async fn join_some(of_set: String) {
    let mut set = JoinSet::new();
    for length in 0..3 {
        set.build_task().name(&of_set).spawn(time::sleep(Duration::from_micros(100 * length))).unwrap();
    }
    for _ in 0..2 {
        set.join_next().await.unwrap().unwrap();
        set.build_task().name(&of_set).spawn(yield_now()).unwrap();
    }
    // Two tasks are left when the set is dropped.
    spawn(yield_now()).await.unwrap();
}

/// Returns how many members of sets there are.
fn check(tree: &str) -> usize {
    let name = |line: &str| line.split('"').nth(1).map(str::to_owned);
    let mut waiter: Option<(usize, String)> = None;
    let mut members = 0;
    for line in tree.lines() {
        let depth = line.len() - line.trim_start().len();
        match waiter.as_ref().filter(|(of_waiter, _)| depth > *of_waiter) {
            Some((_, of_set)) => {
                // A task that ends has lost its name a moment before.
                assert!(name(line).is_none_or(|name| name == *of_set), "{tree}");
                members += 1;
            }
            // So has a task that waited for them, if it ends during the dump.
            None => {
                let is_waiter = line.contains("waits for any of");
                waiter = name(line).filter(|_| is_waiter).map(|of_set| (depth, of_set));
            }
        }
    }
    members
}
