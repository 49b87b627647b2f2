//! The stack of a thread that sleeps, taken without stopping or waking the thread, and that of a
//! thread that computes, which a signal interrupts (`signal`).
//!
//! The kernel tells the stack pointer and the program counter of a thread that sleeps. The stack is
//! copied, and unwound outside of the thread. Only the report thread does this. The addresses get
//! their names and lines when a report is asked for, on the thread that asks.
//!
//! Does the copy belong to the poll? `look` answers that: it asks the kernel how often the thread
//! has been given a core, before the registers are read and after the copy was made.

mod caller;
mod lines;
mod memory;
mod modules;
mod signal;
mod symbols;
mod unwind;

use std::io;

use self::memory::{Copy, Memory};
use self::modules::Modules;
use self::unwind::{Registers, Sources};
use super::frame::{BlockedFrame, Frames};
use crate::sys::system_call::Sleep;
use crate::sys::thread_state::ThreadId;

/// More of a stack is not copied: a task that is deeper has no stack in the report.
const MOST_BYTES: usize = 256 * 1024;

/// What the report thread needs to unwind stacks.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    modules: Option<Modules>,
}

/// The used part of a stack, as it was while the thread slept, or when it was interrupted.
#[derive(Debug)]
pub(super) struct Taken {
    memory: Memory,
    copy: Copy,
    registers: Registers,
}

/// Copies the stack of a thread that sleeps there. `Err`: why not, in words.
pub(super) fn take(sleep: &Sleep) -> Option<Result<Taken, String>> {
    let taken = Memory::open().map(|memory| {
        let copy = Copy::of(&memory, sleep.stack_pointer, MOST_BYTES);
        Taken { memory, copy, registers: Registers::asleep(sleep) }
    });
    Some(taken.map_err(unreadable))
}

/// Interrupts a thread that computes, and copies its stack. `Err`: why not, in words.
pub(super) fn interrupt(thread: ThreadId) -> Option<Result<Taken, String>> {
    let taken = signal::interrupt(thread).and_then(|(registers, copy)| {
        let memory = Memory::open().map_err(unreadable)?;
        Ok(Taken { memory, copy, registers })
    });
    Some(taken)
}

fn unreadable(error: io::Error) -> String {
    format!("/proc/self/mem: {error}")
}

/// The kernel does not say where the thread sleeps.
pub(super) fn refused(error: &io::Error) -> Option<Result<Frames, String>> {
    Some(Err(format!("/proc/self/task: {error}")))
}

/// The names and lines of the addresses. Reads the debugging information of the program.
pub(super) fn frames(addresses: &[u64]) -> Vec<BlockedFrame> {
    symbols::frames(addresses, &Modules::read().unwrap_or_default())
}

/// Gives the memory for debugging information back.
pub(super) fn forget_symbols() {
    backtrace::clear_symbol_cache();
}

impl Stacks {
    /// `Err`: why there are no frames, in words.
    pub(super) fn frames_of(&mut self, taken: &Taken) -> Result<Frames, String> {
        let Taken { memory, copy, registers } = taken;
        let modules = match &mut self.modules {
            Some(modules) => modules,
            none => none.insert(Modules::read().map_err(|error| format!("/proc/self/maps: {error}"))?),
        };
        let sources = Sources { copy, modules, memory };
        let addresses = unwind::walk(&sources, registers.clone());
        addresses.map(Frames::new).map_err(|address| format!("it can't be unwound beyond {}", modules.name(address)))
    }

    /// There is nothing more to look at for now: gives memory back. A library may also be replaced
    /// by another one before the next look.
    pub(super) fn rest(&mut self) {
        self.modules = None;
    }
}
