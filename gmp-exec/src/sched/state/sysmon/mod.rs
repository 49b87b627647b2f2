//! The state that sysmon shares with the machines: how they call sysmon, and when they should.

pub(crate) mod calls;
mod starts;

use self::calls::Calls;
use self::starts::Starts;
use crate::sched::state::idle::Idle;
use crate::sync::atomic::Ordering::*;
use crate::sync::atomic::{AtomicBool, AtomicU8, fence};

#[derive(Default)]
pub(crate) struct Sysmon {
    /// sysmon is in its deep sleep: the next machine that acquires a processor has to wake sysmon.
    pub(in crate::sched) asleep: AtomicBool,
    /// A submitter that finds every processor busy may call.
    pub(in crate::sched) listening: AtomicBool,
    /// The next look is far away, because nothing has waited and no poll has lasted for a while.
    pub(in crate::sched) is_slow: AtomicBool,
    /// The [`Level`]. sysmon writes it at each look (`sysmon::long_polls`).
    expected: AtomicU8,
    pub(in crate::sched) calls: Calls,
    pub(in crate::sched) starts: Starts,
}

/// What machines expect because of recent polls. In ascending order: each level includes those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::sched) enum Level {
    Nothing,
    /// Threads may compete for the cores: time slices are short.
    Competition,
    /// Long polls are likely: a machine that leaves the netpoll leaves a successor.
    LongPolls,
}

impl Sysmon {
    /// A processor became busy. The caller changes `idle` before it looks whether sysmon is asleep;
    /// sysmon announces its sleep before it looks at `idle`. A SeqCst fence lies between the two on
    /// both sides.
    #[inline]
    pub(in crate::sched) fn notice_busy(&self, idle: &Idle) {
        fence(SeqCst);
        if self.asleep.load(Relaxed) {
            self.calls.add(calls::WOKEN);
        } else if self.is_slow.load(Relaxed) && idle.counts().is_unwatched() {
            // If the tasks that run now hold their threads, only sysmon will notice.
            self.call();
        }
    }

    /// Whether a submitter that finds every processor busy shall call. The submitter has made a
    /// SeqCst fence after it published its task.
    #[inline]
    pub(crate) fn is_listening(&self) -> bool {
        self.listening.load(Relaxed)
    }

    /// Work waits, and every processor is busy, or one is in a section: sysmon shall look now. Only
    /// the first of several callers wakes sysmon. A machine that begins a section makes no fence
    /// before, so its call may be lost; then the regular look finds the section.
    #[cold]
    pub(in crate::sched) fn call(&self) {
        // A swap takes the line from the other cores, also if sysmon does not listen.
        if self.is_listening() && self.listening.swap(false, AcqRel) {
            self.calls.add(calls::CALLED);
        }
    }

    pub(in crate::sched) fn expects(&self, level: Level) -> bool {
        self.expected.load(Relaxed) >= level as u8
    }

    pub(in crate::sched) fn expect(&self, level: Level) {
        self.expected.store(level as u8, Relaxed);
    }

    pub(crate) fn stop(&self) {
        self.calls.add(calls::STOPPED);
    }
}

/// sysmon's sleep without its thread, for a model.
#[cfg(all(test, loom))]
impl Sysmon {
    pub(in crate::sched) fn wait_for_stop(&self) {
        self.calls.bind();
        while self.calls.wait(None) & calls::STOPPED == 0 {}
    }

    /// Returns how many machines sysmon would have started.
    pub(in crate::sched) fn start_until_stopped(&self) -> usize {
        self.calls.bind();
        let mut started = 0;
        loop {
            let reasons = self.calls.wait(None);
            if reasons & calls::STOPPED != 0 {
                return started + self.starts.close().len();
            }
            started += self.starts.take().len();
        }
    }
}
