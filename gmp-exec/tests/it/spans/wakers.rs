//! The events of wakers.

use std::future::{pending, poll_fn};
use std::sync::Mutex;
use std::task::{Poll, Waker};

use gmp_exec::task;
use tokio::sync::oneshot;
use tracing::dispatcher;

use super::recorder::Recorder;
use super::{recorded, threads};

/// What the wakers of a task have done, without the target.
fn operations(recorder: &Recorder, span: &str) -> Vec<String> {
    let suffix = format!(" task.id={span}");
    let events = recorder.of("event tokio::task::waker op=");
    events.iter().filter_map(|event| Some(event.strip_suffix(&suffix)?.trim_matches('"').to_owned())).collect()
}

#[test]
fn a_task_that_waits_has_a_waker_which_its_sender_wakes() {
    let (recorder, ()) = recorded(async {
        let (sender, receiver) = oneshot::channel();
        let task = task::spawn(async { receiver.await.unwrap() });
        task::yield_now().await;
        sender.send(()).unwrap();
        task.await.unwrap();
    });
    let operations = operations(&recorder, &recorder.span("kind=task"));
    assert_eq!(operations, ["waker.clone", "waker.wake_by_ref", "waker.drop"]);
}

async fn yield_thrice() {
    for _ in 0..3 {
        task::yield_now().await;
    }
}

#[test]
fn a_task_that_yields_does_not_wake_itself_and_is_never_without_a_waker() {
    let (recorder, ()) = recorded(async { task::spawn(yield_thrice()).await.unwrap() });
    check_yields(&recorder);
    let recorder = Recorder::default();
    dispatcher::with_default(&recorder.dispatch(), || {
        threads(&recorder).block_on(async { task::spawn(yield_thrice()).await.unwrap() });
    });
    check_yields(&recorder);
}

fn check_yields(recorder: &Recorder) {
    let span = recorder.span("kind=task");
    let operations = operations(recorder, &span);
    let cycle = ["waker.clone", "waker.wake"];
    assert_eq!(operations, [cycle; 3].concat());
    let mut is_entered = false;
    for line in recorder.lines() {
        match line.split_once(' ') {
            Some(("enter", number)) if number == span => is_entered = true,
            Some(("exit", number)) if number == span => is_entered = false,
            _ => {}
        }
        assert!(!(is_entered && line.contains("waker.wake")), "woken by its own poll: {:#?}", recorder.lines());
    }
}

#[test]
fn a_task_that_wakes_itself_does() {
    let (recorder, ()) = recorded(async {
        let mut is_woken = false;
        let wakes_itself = poll_fn(move |cx| {
            if std::mem::replace(&mut is_woken, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        });
        task::spawn(wakes_itself).await.unwrap();
    });
    let span = recorder.span("kind=task");
    let lines = recorder.lines();
    let place = |line: &str| lines.iter().position(|other| other == line).unwrap();
    let woken = place(&format!("event tokio::task::waker op=\"waker.wake_by_ref\" task.id={span}"));
    assert!(place(&format!("enter {span}")) < woken && woken < place(&format!("exit {span}")), "{lines:#?}");
}

#[test]
fn wakers_of_the_runtime_itself_make_no_events() {
    let (recorder, ()) = recorded(async {
        let aborted = task::spawn(pending::<()>());
        task::yield_now().await;
        aborted.abort();
        assert!(aborted.await.unwrap_err().is_cancelled());
        // Ended with the runtime.
        task::spawn(pending::<()>());
        task::yield_now().await;
    });
    assert!(recorder.of("event tokio::task::waker").is_empty(), "{:#?}", recorder.lines());
}

#[test]
fn a_waker_may_outlive_its_task() {
    static KEPT: Mutex<Option<Waker>> = Mutex::new(None);
    let (recorder, ()) = recorded(async {
        let keeps = poll_fn(|cx| {
            *KEPT.lock().unwrap() = Some(cx.waker().clone());
            Poll::Ready(())
        });
        task::spawn(keeps).await.unwrap();
        KEPT.lock().unwrap().take().unwrap().wake();
    });
    let operations = operations(&recorder, &recorder.span("kind=task"));
    assert_eq!(operations, ["waker.clone", "waker.wake"]);
}

#[test]
fn a_subscriber_that_panics_loses_no_wake_up() {
    let recorder = Recorder::default();
    let runtime = threads(&recorder);
    let answer = dispatcher::with_default(&recorder.dispatch(), || runtime.block_on(loses_none(&recorder)));
    assert_eq!(answer, 42);
}

async fn loses_none(recorder: &Recorder) -> u32 {
    let (sender, receiver) = oneshot::channel();
    let task = task::spawn(async { receiver.await.unwrap() });
    while recorder.of("event tokio::task::waker op=\"waker.clone\"").is_empty() {
        task::yield_now().await;
    }
    recorder.panic_at("event tokio::task::waker");
    let sends = task::spawn(async { sender.send(42) });
    sends.await.unwrap().unwrap();
    task.await.unwrap()
}
