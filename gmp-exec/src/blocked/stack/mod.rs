//! The stack of a thread that sleeps, taken without stopping or waking the thread, and that of a
//! thread that computes, which a signal interrupts (`signal`).
//!
//! The kernel tells the stack pointer and the program counter of a thread that sleeps. The stack is
//! copied, and unwound outside of the thread (by gmp-insight). Only the report thread does this. The
//! addresses get their names and lines when a report is asked for, on the thread that asks.
//!
//! Does the copy belong to the poll? `look` answers that: it asks the kernel how often the thread
//! has been given a core, before the registers are read and after the copy was made.

mod signal;

use std::ffi::c_void;
use std::io;

pub(super) use gmp_insight::stack::Taken;
pub(crate) use gmp_insight::stack::forget_symbols;
use gmp_insight::stack::{self, Frame, Origin};

use super::frame::{BlockedFrame, FrameOrigin, Frames};
use crate::sched::state::machine::thread_root;
use crate::sys::system_call::Sleep;
use crate::sys::thread_state::ThreadId;

/// What the report thread needs to unwind stacks.
#[derive(Debug, Default)]
pub(super) struct Stacks(stack::Stacks);

/// Copies the stack of a thread that sleeps there. `Err`: why not, in words.
pub(super) fn take(sleep: &Sleep) -> Option<Result<Taken, String>> {
    let taken = Taken::asleep(sleep.stack_pointer, sleep.program_counter, sleep.call.is_some());
    Some(taken.map_err(unreadable))
}

/// Interrupts a thread that computes, and copies its stack. `Err`: why not, in words.
pub(super) fn interrupt(thread: ThreadId) -> Option<Result<Taken, String>> {
    let taken = signal::interrupt(thread);
    Some(taken.and_then(|(registers, copy)| Taken::interrupted(registers, copy).map_err(unreadable)))
}

fn unreadable(error: io::Error) -> String {
    format!("/proc/self/mem: {error}")
}

/// The kernel does not say where the thread sleeps.
pub(super) fn refused(error: &io::Error) -> Option<Result<Frames, String>> {
    Some(Err(format!("/proc/self/task: {error}")))
}

/// The stack of this thread. Tens of microseconds.
pub(crate) fn here() -> Vec<u64> {
    stack::here()
}

/// The stack that a handler with this context has interrupted, on the handler's thread.
pub(crate) fn interrupted_at(context: *const c_void) -> Vec<u64> {
    let Some(program_counter) = signal::program_counter(context) else { return Vec::new() };
    let mut addresses = here();
    // In place of the address before it, which may belong to another line.
    if let Some(at) = addresses.iter().position(|address| address + 1 == program_counter) {
        addresses.drain(..at);
        addresses[0] = program_counter;
    }
    addresses
}

/// The names and lines of the addresses. Reads the debugging information of the program.
pub(crate) fn frames(addresses: &[u64]) -> Vec<BlockedFrame> {
    stack::frames(addresses).into_iter().map(in_report).collect()
}

fn in_report(frame: Frame) -> BlockedFrame {
    let origin = match frame.origin {
        Origin::Own => FrameOrigin::Own,
        Origin::Dependency => FrameOrigin::Dependency,
        Origin::Runtime => FrameOrigin::Runtime,
        Origin::Unknown => FrameOrigin::Unknown,
    };
    BlockedFrame { function: frame.function, file: frame.file, line: frame.line, origin }
}

impl Stacks {
    /// `Err`: why there are no frames, in words.
    pub(super) fn frames_of(&mut self, taken: &Taken) -> Result<Frames, String> {
        self.0.addresses(taken, thread_root::address()).map(Frames::new)
    }

    /// There is nothing more to look at for now: gives memory back.
    pub(super) fn rest(&mut self) {
        self.0.rest();
    }
}
