//! The listeners of one kind of signal.

use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use crate::lock::lock;
use crate::waiting::{Place, Waiting};

/// A version that increases with each delivery, and the wakers of the listeners that have seen the
/// newest version.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<ListenerState>);

#[derive(Debug, Default)]
struct ListenerState {
    version: u64,
    waiting: Waiting,
}

impl Listeners {
    /// Records a delivery. The wakers of all listeners are moved to `woken`, for the caller to wake
    /// when no lock is held.
    pub(super) fn advance(&self, woken: &mut Vec<Waker>) {
        let mut state = lock(&self.0);
        state.version += 1;
        state.waiting.take_all(woken);
    }

    /// Makes all listeners poll again, although there is no delivery.
    pub(super) fn nudge(&self, woken: &mut Vec<Waker>) {
        lock(&self.0).waiting.take_all(woken);
    }

    /// A listener, which sees signals that arrive from now on.
    pub(super) fn subscribe(&'static self) -> Subscription {
        Subscription { listeners: self, seen: lock(&self.0).version, place: Place::default() }
    }
}

/// A listener, and the version that it has seen.
#[derive(Debug)]
pub(super) struct Subscription {
    listeners: &'static Listeners,
    seen: u64,
    place: Place,
}

impl Subscription {
    /// Ready if there has been a delivery since this was last ready.
    pub(super) fn poll_changed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut state = lock(&self.listeners.0);
        let changed = state.version != self.seen;
        self.seen = state.version;
        // One of two wakers is not needed, and is dropped after unlocking.
        let unneeded = if changed { Some(waker) } else { state.waiting.join(&mut self.place, waker) };
        drop(state);
        drop(unneeded);
        if changed { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if self.place.is_unused() {
            return;
        }
        let unneeded = lock(&self.listeners.0).waiting.leave(&mut self.place);
        drop(unneeded);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listeners() -> &'static Listeners {
        Box::leak(Box::default())
    }

    fn sees(subscription: &mut Subscription) -> bool {
        subscription.poll_changed(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn deliveries_between_two_looks_are_one() {
        let listeners = listeners();
        let mut subscription = listeners.subscribe();
        assert!(!sees(&mut subscription));
        let mut woken = Vec::new();
        listeners.advance(&mut woken);
        listeners.advance(&mut woken);
        assert_eq!(woken.len(), 1, "a listener that was woken is not woken again");
        assert!(sees(&mut subscription));
        assert!(!sees(&mut subscription));
    }

    #[test]
    fn every_listener_sees_a_delivery_once_and_none_from_before() {
        let listeners = listeners();
        let mut early = listeners.subscribe();
        listeners.advance(&mut Vec::new());
        let mut late = listeners.subscribe();
        assert!(sees(&mut early) && !sees(&mut late));
        listeners.advance(&mut Vec::new());
        assert!(sees(&mut early) && sees(&mut late));
    }

    #[test]
    fn a_dropped_listener_leaves_nothing_behind() {
        let listeners = listeners();
        let mut subscription = listeners.subscribe();
        assert!(!sees(&mut subscription));
        drop(subscription);
        let mut woken = Vec::new();
        listeners.advance(&mut woken);
        assert!(woken.is_empty() && lock(&listeners.0).waiting.places() == 0);
    }

    #[test]
    fn a_nudge_wakes_and_shows_nothing() {
        let listeners = listeners();
        let mut subscription = listeners.subscribe();
        assert!(!sees(&mut subscription));
        let mut woken = Vec::new();
        listeners.nudge(&mut woken);
        assert_eq!(woken.len(), 1);
        assert!(!sees(&mut subscription));
    }
}
