//! Threads inside `block_on` of a current-thread runtime that another thread drives. They poll their
//! own futures, and wait for a wake-up of these or for the other thread to leave.
//!
//! Hardly ever is there such a thread, so the others read a number before they take the event's
//! lock. Each side writes first and looks second:
//!
//! | waiting thread | notifying thread |
//! |---|---|
//! | counts itself, listens | puts the processor back, or marks the future as woken |
//! | SeqCst fence, in `listen` | the lock of `Idle`, or a SeqCst fence |
//! | is the processor back (under the lock of `Idle`), is the future woken? | is a thread counted? notify |

use event_listener::{Event, EventListener, Listener};

use crate::sync::atomic::AtomicUsize;
use crate::sync::atomic::Ordering::*;

#[derive(Debug)]
pub(crate) struct Vacant {
    listening: AtomicUsize,
    event: Event,
}

impl Vacant {
    pub(crate) fn new() -> Vacant {
        Vacant { listening: AtomicUsize::new(0), event: Event::new() }
    }

    /// Listens. The caller then looks whether it still has to wait.
    pub(in crate::sched) fn listen(&self) -> Listening<'_> {
        self.listening.fetch_add(1, SeqCst);
        Listening { vacant: self, listener: Some(self.event.listen()) }
    }

    /// Wakes all that listen. The caller has made a SeqCst fence, or released the lock of `Idle`,
    /// after its reason.
    #[inline]
    pub(in crate::sched) fn notify(&self) {
        if self.listening.load(Relaxed) > 0 {
            self.event.notify_additional(usize::MAX);
        }
    }
}

pub(in crate::sched) struct Listening<'a> {
    vacant: &'a Vacant,
    /// `None` once it has waited.
    listener: Option<EventListener>,
}

impl Listening<'_> {
    pub(in crate::sched) fn wait(mut self) {
        if let Some(listener) = self.listener.take() {
            listener.wait();
        }
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.vacant.listening.fetch_sub(1, Relaxed);
    }
}
