//! The special cases when a task is submitted on a machine. A submission tests one byte; non-zero
//! selects the slow path.

use std::cell::Cell;

#[derive(Debug)]
pub(crate) struct Detour {
    flags: Cell<u8>,
    submissions: Cell<u32>,
}

const COLLECTS: u8 = 1;
const STAMPS: u8 = 2;
const RECORDS: u8 = 4;

impl Detour {
    /// `first_number`: `Some` if scheduling latencies are measured.
    pub(in crate::sched) fn new(first_number: Option<u32>) -> Detour {
        let flags = if first_number.is_some() { STAMPS } else { 0 };
        Detour { flags: Cell::new(flags), submissions: Cell::new(first_number.unwrap_or(0)) }
    }

    #[inline]
    pub(in crate::sched) fn is_any(&self) -> bool {
        self.flags.get() != 0
    }

    /// Whether the machine is inside `Netpoll::poll`: tasks that become ready go into
    /// `Local::ready`.
    pub(in crate::sched) fn collects(&self) -> bool {
        self.flags.get() & COLLECTS != 0
    }

    pub(in crate::sched) fn set_collecting(&self, on: bool) {
        let others = self.flags.get() & !COLLECTS;
        self.flags.set(if on { others | COLLECTS } else { others });
    }

    /// Whether what the machine does is recorded.
    pub(in crate::sched) fn records(&self) -> bool {
        self.flags.get() & RECORDS != 0
    }

    pub(in crate::sched) fn set_recording(&self, on: bool) {
        let others = self.flags.get() & !RECORDS;
        self.flags.set(if on { others | RECORDS } else { others });
    }

    /// Counts a submission on this machine. Returns its number if scheduling latencies are
    /// measured.
    pub(in crate::sched) fn next_number(&self) -> Option<u32> {
        let next = self.submissions.get().wrapping_add(1);
        self.submissions.set(next);
        (self.flags.get() & STAMPS != 0).then_some(next)
    }
}
