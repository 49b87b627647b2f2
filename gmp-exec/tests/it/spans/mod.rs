//! The spans and events of the feature `tracing`, which tokio-console shows.
//!
//! The subscriber is that of single threads, so that it doesn't see the other tests.

use std::future::{pending, poll_fn};
use std::task::Poll;

use gmp_exec::runtime::{Builder, LocalOptions, Runtime};
use gmp_exec::task::{self, LocalSet};
use tokio::sync::oneshot;
use tracing::dispatcher;

use self::recorder::Recorder;

mod recorder;
mod resources;
mod wakers;

/// Runs `f` on a runtime of one thread, whose subscriber is the recorder.
fn recorded<F: Future>(f: F) -> (Recorder, F::Output) {
    let recorder = Recorder::default();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let output = dispatcher::with_default(&recorder.dispatch(), || runtime.block_on(f));
    dispatcher::with_default(&recorder.dispatch(), || drop(runtime));
    (recorder, output)
}

/// A runtime all of whose threads have the recorder as their subscriber.
fn threads(recorder: &Recorder) -> Runtime {
    let dispatch = recorder.dispatch();
    let begin = move || std::mem::forget(dispatcher::set_default(&dispatch));
    Builder::new_multi_thread().worker_threads(2).enable_all().on_thread_start(begin).build().unwrap()
}

/// The lines about a span.
fn life(recorder: &Recorder, span: &str) -> Vec<String> {
    let is_of = |line: &&String| matches!(line.split(' ').nth(1), Some(number) if number == span);
    let lines = recorder.lines();
    let verbs = lines.iter().filter(is_of).map(|line| line.split(' ').next().unwrap().to_owned());
    verbs.collect()
}

#[test]
fn a_span_is_entered_in_each_poll_and_at_the_drop_of_the_future_which_closes_it() {
    let (recorder, ()) = recorded(async {
        task::spawn(task::yield_now()).await.unwrap();
    });
    let span = recorder.span("kind=task");
    assert_eq!(life(&recorder, &span), ["new", "enter", "exit", "enter", "exit", "enter", "exit", "close"]);
}

#[test]
fn a_span_of_an_aborted_task_is_closed() {
    let (recorder, ()) = recorded(async {
        let task = task::spawn(pending::<()>());
        task::yield_now().await;
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    let span = recorder.span("kind=task");
    assert_eq!(life(&recorder, &span), ["new", "enter", "exit", "enter", "exit", "close"]);
}

#[test]
fn a_span_has_the_fields_of_tokio() {
    let (recorder, (id, line)) = recorded(async {
        let (array, line) = ([1_u8; 100], line!());
        let task = task::Builder::new().name("sums").spawn(async move { array.iter().sum::<u8>() }).unwrap();
        let id = task.id();
        assert_eq!(task.await.unwrap(), 100);
        (id, line + 1)
    });
    let spans = recorder.of("new ");
    let [block_on, task] = &spans[..] else { panic!("{spans:#?}") };
    assert!(block_on.contains(" tokio::task runtime.spawn kind=block_on task.name= task.id="), "{block_on}");
    let file = file!();
    let fields =
        format!("kind=task task.name=sums task.id={id} size.bytes=101 loc.file={file:?} loc.line={line} loc.col=");
    let (before, column) = task.rsplit_once('=').unwrap();
    assert!(before.ends_with(&format!(" tokio::task runtime.spawn {}", fields.trim_end_matches('='))), "{task}");
    assert!(column.parse::<u32>().unwrap() > 1, "{task}");
}

#[test]
fn a_large_future_is_shown_as_a_box_with_its_original_size() {
    let (recorder, ()) = recorded(async {
        let array = [1_u8; 10_000];
        let sum = async move { array.iter().map(|byte| u64::from(*byte)).sum::<u64>() };
        assert_eq!(task::spawn(sum).await.unwrap(), 10_000);
    });
    let spans = recorder.of("new ");
    assert!(spans[1].contains(" original_size.bytes=10001 size.bytes=8 "), "{}", spans[1]);
}

#[test]
fn kinds_are_those_of_tokio() {
    let (recorder, ()) = recorded(async {
        let set = LocalSet::new();
        set.run_until(async { task::spawn_local(async {}).await.unwrap() }).await;
    });
    recorder.span("kind=local");
    let recorder = Recorder::default();
    dispatcher::with_default(&recorder.dispatch(), || {
        let runtime = Builder::new_current_thread().build_local(LocalOptions::default()).unwrap();
        runtime.block_on(async { task::spawn_local(async {}).await.unwrap() });
    });
    recorder.span("kind=task");
}

#[test]
fn a_closure_has_a_span_with_the_name_of_its_type() {
    let (recorder, ()) = recorded(async {
        let captured = [0_u8; 7];
        task::spawn_blocking(move || captured.len()).await.unwrap();
    });
    let spans = recorder.of("new ");
    let closure = spans.iter().find(|line| line.contains("tokio::task::blocking runtime.spawn")).unwrap();
    assert!(closure.contains(" kind=blocking ") && closure.contains(" size.bytes=7 "), "{closure}");
    assert!(closure.contains(" fn=it::spans::a_closure_has_a_span"), "{closure}");
}

#[test]
fn without_a_subscriber_nothing_is_different() {
    let runtime = Runtime::new().unwrap();
    let sum = runtime.block_on(async {
        let (sender, receiver) = oneshot::channel();
        let task = task::spawn(async { receiver.await.unwrap() });
        let ready = poll_fn(|_| Poll::Ready(1)).await;
        sender.send(41).unwrap();
        task.await.unwrap() + ready
    });
    assert_eq!(sum, 42);
}
