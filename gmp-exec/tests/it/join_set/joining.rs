//! The set returns each result once, in the order in which the tasks finish, with the id of the
//! task.

use std::future::pending;
use std::pin::pin;

use gmp_exec::task::{JoinSet, yield_now};
use tokio::sync::oneshot;

use super::wait_until;
use crate::futures::{poll_once, soon};

#[gmp_exec::test]
async fn tasks_are_joined_in_the_order_in_which_they_finish() {
    let mut set = JoinSet::new();
    let mut tasks = [0, 1, 2, 3].map(|number| {
        let (trigger, triggered) = oneshot::channel();
        let task = set.spawn(async move {
            triggered.await.unwrap();
            number
        });
        (Some(trigger), task)
    });
    for number in [2, 0, 3, 1] {
        let (trigger, task) = &mut tasks[number];
        trigger.take().unwrap().send(()).unwrap();
        wait_until(|| task.is_finished()).await;
    }
    assert_eq!(set.len(), 4);

    assert_eq!(soon(set.join_all()).await, [2, 0, 3, 1]);
}

#[gmp_exec::test]
async fn tasks_that_finished_before_the_first_poll_come_in_their_order_too() {
    let mut set = JoinSet::new();
    let (release_first, released) = oneshot::channel::<()>();
    set.spawn(async move {
        released.await.unwrap();
        "spawned first"
    });
    let second = set.spawn(async { "spawned second" });
    wait_until(|| second.is_finished()).await;
    release_first.send(()).unwrap();

    assert_eq!(soon(set.join_all()).await, ["spawned second", "spawned first"]);
}

#[gmp_exec::test]
async fn an_empty_set_has_nothing_to_join() {
    let mut set = JoinSet::<()>::default();
    assert_eq!(set.len(), 0);
    assert!(set.is_empty());
    assert!(set.try_join_next().is_none());
    assert!(set.try_join_next_with_id().is_none());
    assert!(soon(set.join_next()).await.is_none());
    assert!(soon(set.join_next_with_id()).await.is_none());
    soon(set.shutdown()).await;
    assert!(soon(set.join_all()).await.is_empty());
}

#[gmp_exec::test]
async fn try_join_next_takes_what_has_finished_and_no_more() {
    let mut set = JoinSet::new();
    let finished = set.spawn(async { 1 });
    let endless = set.spawn(pending());
    assert!(set.try_join_next().is_none());
    wait_until(|| finished.is_finished()).await;

    assert_eq!(set.try_join_next().unwrap().unwrap(), 1);
    assert_eq!(set.len(), 1);
    assert!(set.try_join_next().is_none());

    endless.abort();
    wait_until(|| endless.is_finished()).await;
    assert!(set.try_join_next_with_id().unwrap().unwrap_err().is_cancelled());
    assert!(set.is_empty());
}

#[gmp_exec::test]
async fn every_result_carries_the_id_of_its_task() {
    let mut set = JoinSet::new();
    let good = set.spawn(async { "good" }).id();
    assert_eq!(soon(set.join_next_with_id()).await.unwrap().unwrap(), (good, "good"));

    let aborted = set.spawn(pending());
    aborted.abort();
    let error = soon(set.join_next_with_id()).await.unwrap().unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(error.id(), aborted.id());

    let panicking = set.spawn(async { panic!("on purpose") }).id();
    let error = soon(set.join_next_with_id()).await.unwrap().unwrap_err();
    assert!(error.is_panic());
    assert_eq!(error.id(), panicking);
}

#[gmp_exec::test]
async fn a_join_that_is_given_up_takes_no_task_out() {
    let mut set = JoinSet::new();
    let mut triggers = Vec::new();
    for number in 0..50 {
        let (trigger, triggered) = oneshot::channel::<()>();
        triggers.push(trigger);
        set.spawn(async move {
            triggered.await.unwrap();
            number
        });
    }
    let mut joined = Vec::new();
    for trigger in triggers {
        {
            let mut given_up = pin!(set.join_next());
            assert!(poll_once(given_up.as_mut()).await.is_pending());
        }
        trigger.send(()).unwrap();
        yield_now().await;
        joined.push(soon(set.join_next()).await.unwrap().unwrap());
    }
    assert_eq!(joined, (0..50).collect::<Vec<_>>());
}
