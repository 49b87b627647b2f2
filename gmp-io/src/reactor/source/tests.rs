//! The race between an event and a task that is about to wait, and which waiters an event wakes.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use super::*;

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Count {
    fn get(&self) -> usize {
        self.0.load(SeqCst)
    }
}

fn set_ready(source: &Source, ready: Ready) {
    let mut woken = Vec::new();
    source.set_ready(ready, &mut woken);
    woken.into_iter().for_each(Waker::wake);
}

fn poll_once<F: Future + Unpin>(mut future: F, count: &Arc<Count>) -> Poll<F::Output> {
    let waker = Waker::from(count.clone());
    Pin::new(&mut future).poll(&mut Context::from_waker(&waker))
}

#[test]
fn every_future_that_waits_is_woken() {
    let source = Source::default();
    let counts: Vec<_> = (0..10).map(|_| Arc::<Count>::default()).collect();
    let mut waits: Vec<_> = counts.iter().map(|_| source.wait(Interest::READABLE)).collect();
    for (wait, count) in waits.iter_mut().zip(&counts) {
        assert!(poll_once(wait, count).is_pending());
    }
    set_ready(&source, Ready::READABLE);
    for (wait, count) in waits.iter_mut().zip(&counts) {
        assert_eq!(count.get(), 1);
        assert!(poll_once(wait, count).is_ready());
    }
}

#[test]
fn a_future_is_not_woken_for_the_other_direction() {
    let source = Source::default();
    let (reader, writer) = (Arc::<Count>::default(), Arc::<Count>::default());
    let mut readable = source.wait(Interest::READABLE);
    let mut writable = source.wait(Interest::WRITABLE);
    assert!(poll_once(&mut readable, &reader).is_pending());
    assert!(poll_once(&mut writable, &writer).is_pending());
    set_ready(&source, Ready::WRITABLE);
    assert_eq!((reader.get(), writer.get()), (0, 1));
}

#[test]
fn of_two_tasks_that_poll_the_last_is_woken() {
    let source = Source::default();
    let counts = [Arc::<Count>::default(), Arc::<Count>::default()];
    for count in &counts {
        let ask = poll_fn(|cx| source.poll_ready(cx, Direction::Read));
        assert!(poll_once(ask, count).is_pending());
    }
    set_ready(&source, Ready::READABLE);
    assert_eq!([counts[0].get(), counts[1].get()], [0, 1]);
}

#[test]
fn a_future_that_is_dropped_leaves_nothing_behind() {
    let source = Source::default();
    let count = Arc::<Count>::default();
    let mut wait = source.wait(Interest::READABLE);
    assert!(poll_once(&mut wait, &count).is_pending());
    drop(wait);
    assert_eq!(Arc::strong_count(&count), 1, "its waker is gone");
    set_ready(&source, Ready::READABLE);
    assert_eq!(count.get(), 0);
}

#[test]
fn a_future_whose_readiness_was_taken_by_another_goes_on_waiting() {
    let source = Source::default();
    let count = Arc::<Count>::default();
    let mut wait = source.wait(Interest::READABLE);
    assert!(poll_once(&mut wait, &count).is_pending());
    set_ready(&source, Ready::READABLE);
    source.clear(source.look(Interest::READABLE));
    assert!(poll_once(&mut wait, &count).is_pending());
    set_ready(&source, Ready::READABLE);
    assert_eq!(count.get(), 2);
    assert!(poll_once(&mut wait, &count).is_ready());
}

#[test]
fn a_shutdown_ends_every_wait() {
    let source = Source::default();
    let count = Arc::<Count>::default();
    let mut wait = source.wait(Interest::WRITABLE);
    assert!(poll_once(&mut wait, &count).is_pending());
    assert!(poll_once(poll_fn(|cx| source.poll_ready(cx, Direction::Read)), &count).is_pending());
    let mut woken = Vec::new();
    source.shut_down(&mut woken);
    assert_eq!(woken.len(), 2);
    assert!(matches!(poll_once(&mut wait, &count), Poll::Ready(event) if event.is_shutdown()));
}

/// One thread reports events, another one consumes them as a task does: wait, then clear. If an
/// event were lost, the consumer would wait without end. This number of rounds takes well under a
/// second on one core.
#[test]
fn no_event_is_lost_between_looking_and_waiting() {
    const ROUNDS: usize = 20_000;
    let source = Arc::<Source>::default();
    let (produced, consumed) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());

    let producer = {
        let (source, produced, consumed) = (source.clone(), produced.clone(), consumed.clone());
        thread::spawn(move || {
            for round in 1..=ROUNDS {
                produced.store(round, SeqCst);
                set_ready(&source, Ready::READABLE);
                // At most two events are pending, so that the consumer has to wait about half of
                // the time.
                while consumed.load(SeqCst) + 1 < round {
                    thread::yield_now();
                }
            }
        })
    };

    block_on(async {
        let mut seen = 0;
        while seen < ROUNDS {
            let event = if seen % 2 == 0 {
                source.wait(Interest::READABLE).await
            } else {
                poll_fn(|cx| source.poll_ready(cx, Direction::Read)).await
            };
            // As an operation does: take everything, and clear if there was nothing.
            let now = produced.load(SeqCst);
            if now == seen {
                source.clear(event);
            }
            seen = now;
            consumed.store(seen, SeqCst);
        }
    });
    producer.join().expect("the producer");
}

fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
