//! Those who wait for one kind of signal.

use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use slab::Slab;

use crate::lock::lock;

/// A number that grows with each delivery, and the wakers of those who have seen the newest one.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    version: u64,
    /// A place without a waker: its owner has been woken, and has not come back to wait.
    waiting: Slab<Option<Waker>>,
}

impl Listeners {
    /// Everybody has something to see. Their wakers go to `woken`, to be woken when no lock is held.
    pub(super) fn advance(&self, woken: &mut Vec<Waker>) {
        let mut state = lock(&self.0);
        state.version += 1;
        state.take_wakers(woken);
    }

    /// Makes everybody look again, although there is nothing to see.
    pub(super) fn nudge(&self, woken: &mut Vec<Waker>) {
        lock(&self.0).take_wakers(woken);
    }

    /// Somebody who sees what comes from now on.
    pub(super) fn subscribe(&'static self) -> Subscription {
        Subscription { listeners: self, seen: lock(&self.0).version, place: None }
    }
}

impl State {
    fn take_wakers(&mut self, woken: &mut Vec<Waker>) {
        woken.extend(self.waiting.iter_mut().filter_map(|(_, waker)| waker.take()));
    }

    fn leave(&mut self, place: &mut Option<usize>, waker: Waker) -> Option<Waker> {
        match *place {
            Some(key) => self.waiting[key].replace(waker),
            None => {
                *place = Some(self.waiting.insert(Some(waker)));
                None
            }
        }
    }
}

/// One who waits, and what it has seen.
#[derive(Debug)]
pub(super) struct Subscription {
    listeners: &'static Listeners,
    seen: u64,
    /// Where its waker is, once it had to wait.
    place: Option<usize>,
}

impl Subscription {
    /// Ready if there has been a delivery since the last time this was ready.
    pub(super) fn poll_changed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let waker = cx.waker().clone();
        let mut state = lock(&self.listeners.0);
        let changed = state.version != self.seen;
        self.seen = state.version;
        // One of the two is left over, and is dropped after unlocking.
        let unneeded = if changed { Some(waker) } else { state.leave(&mut self.place, waker) };
        drop(state);
        drop(unneeded);
        if changed { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(key) = self.place {
            let unneeded = lock(&self.listeners.0).waiting.remove(key);
            drop(unneeded);
        }
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
        assert_eq!(woken.len(), 1, "who has been woken is not woken again");
        assert!(sees(&mut subscription));
        assert!(!sees(&mut subscription));
    }

    #[test]
    fn everybody_sees_a_delivery_once_and_none_from_before() {
        let listeners = listeners();
        let mut early = listeners.subscribe();
        listeners.advance(&mut Vec::new());
        let mut late = listeners.subscribe();
        assert!(sees(&mut early) && !sees(&mut late));
        listeners.advance(&mut Vec::new());
        assert!(sees(&mut early) && sees(&mut late));
    }

    #[test]
    fn who_has_gone_leaves_nothing_behind() {
        let listeners = listeners();
        let mut subscription = listeners.subscribe();
        assert!(!sees(&mut subscription));
        drop(subscription);
        let mut woken = Vec::new();
        listeners.advance(&mut woken);
        assert!(woken.is_empty() && lock(&listeners.0).waiting.is_empty());
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
