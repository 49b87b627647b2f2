//! tracing: a span follows its task from thread to thread, and is entered only during the task's
//! polls.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing::dispatcher::{self, Dispatch};
use tracing::field::{Field, Visit};
use tracing::instrument::{Instrument, WithSubscriber};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::support::{on_gmp, pair};

thread_local! {
    /// The spans that are entered on this thread, the innermost last.
    static ENTERED: std::cell::RefCell<Vec<u64>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Records each event's number together with the number of its span.
#[derive(Default)]
struct Recorder {
    next: AtomicU64,
    spans: Mutex<HashMap<u64, u64>>,
    events: Mutex<Vec<(Option<u64>, u64)>>,
}

/// Takes the value of the only field.
struct Number(u64);

impl Visit for Number {
    fn record_u64(&mut self, _: &Field, value: u64) {
        self.0 = value;
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        panic!("{field} is {value:?}, not a number");
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == module_path!()
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let mut number = Number(u64::MAX);
        attributes.record(&mut number);
        self.spans.lock().expect("not poisoned").insert(id, number.0);
        Id::from_u64(id)
    }

    fn event(&self, event: &Event<'_>) {
        let mut number = Number(u64::MAX);
        event.record(&mut number);
        let span = ENTERED.with_borrow(|entered| entered.last().copied());
        let span = span.map(|id| self.spans.lock().expect("not poisoned")[&id]);
        self.events.lock().expect("not poisoned").push((span, number.0));
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| assert_eq!(entered.pop(), Some(span.into_u64())));
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
}

/// Plays ping-pong over a socket, with an event after each exchange.
async fn exchange(rounds: u64) {
    let (mut near, mut far) = pair().await;
    let far = gmp_exec::spawn(async move {
        for _ in 0..rounds {
            let number = far.read_u64().await.expect("read");
            far.write_u64(number).await.expect("written");
        }
    });
    for round in 0..rounds {
        near.write_u64(round).await.expect("written");
        let number = near.read_u64().await.expect("read");
        tracing::info!(number);
    }
    far.await.expect("the other end");
}

#[test]
fn events_belong_to_the_span_of_their_task() {
    const TASKS: u64 = 8;
    const ROUNDS: u64 = 50;
    on_gmp(|| async {
        let recorder = Arc::new(Recorder::default());
        let subscriber = Dispatch::new(recorder.clone());
        let tasks: Vec<_> = dispatcher::with_default(&subscriber, || {
            (0..TASKS)
                .map(|task| {
                    let span = tracing::info_span!("exchange", task);
                    gmp_exec::spawn(exchange(ROUNDS).instrument(span).with_current_subscriber())
                })
                .collect()
        });
        for task in tasks {
            task.await.expect("a task");
        }
        // The runtime's threads have no span entered between two polls or at the end.
        tracing::info!(number = 0_u64);

        let events = recorder.events.lock().expect("not poisoned");
        for task in 0..TASKS {
            let of_task = events.iter().filter(|(span, _)| *span == Some(task));
            assert!(of_task.map(|(_, number)| *number).eq(0..ROUNDS), "task {task}");
        }
        assert_eq!(events.len() as u64, TASKS * ROUNDS);
    });
}
