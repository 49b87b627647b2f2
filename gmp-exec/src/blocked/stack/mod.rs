//! The stack of a thread that sleeps, taken without stopping or waking the thread.
//!
//! The kernel tells the stack pointer and the program counter of a thread that sleeps. The stack is
//! copied, unwound outside of the thread, and put into words. Only the report thread does this.
//!
//! Does the copy belong to the poll? `look` answers that: it asks the kernel how often the thread
//! has been given a core, before the registers are read and after the copy was made.

mod caller;
mod memory;
mod modules;
mod symbols;
mod unwind;

use std::collections::HashMap;
use std::io;

use self::memory::{Copy, Memory};
use self::modules::Modules;
use self::unwind::Sources;
use super::frame::Frames;
use crate::sys::system_call::Sleep;

/// More of a stack is not copied: a task that is deeper has no stack in the report.
const MOST_BYTES: usize = 256 * 1024;
/// More different stacks are not kept in words.
const MOST_KNOWN: usize = 256;

/// The stacks that the report thread has put into words, and what it needs for others.
#[derive(Debug, Default)]
pub(super) struct Stacks {
    known: HashMap<Vec<u64>, Frames>,
    modules: Option<Modules>,
}

/// The used part of a stack, as it was while the thread slept.
#[derive(Debug)]
pub(super) struct Taken {
    memory: Memory,
    copy: Copy,
    program_counter: u64,
}

/// Copies the stack of a thread that sleeps there. `Err`: why not, in words.
pub(super) fn take(sleep: &Sleep) -> Option<Result<Taken, String>> {
    let taken = Memory::open().map(|memory| {
        let copy = Copy::of(&memory, sleep.stack_pointer, MOST_BYTES);
        Taken { memory, copy, program_counter: sleep.program_counter }
    });
    Some(taken.map_err(|error| format!("/proc/self/mem: {error}")))
}

/// The kernel does not say where the thread sleeps.
pub(super) fn refused(error: &io::Error) -> Option<Result<Frames, String>> {
    Some(Err(format!("/proc/self/task: {error}")))
}

impl Stacks {
    /// `Err`: why there are no frames, in words.
    pub(super) fn frames_of(&mut self, taken: &Taken) -> Result<Frames, String> {
        let addresses = self.unwind(taken)?;
        if let Some(frames) = self.known.get(&addresses) {
            return Ok(frames.clone());
        }
        if self.known.len() == MOST_KNOWN {
            self.known.clear();
        }
        let modules = self.modules.as_ref().ok_or("no module")?;
        let frames: Frames = symbols::frames(&addresses, modules).into();
        self.known.insert(addresses, frames.clone());
        Ok(frames)
    }

    fn unwind(&mut self, taken: &Taken) -> Result<Vec<u64>, String> {
        let Taken { memory, copy, program_counter } = taken;
        let modules = match &mut self.modules {
            Some(modules) => modules,
            none => none.insert(Modules::read().map_err(|error| format!("/proc/self/maps: {error}"))?),
        };
        let sources = Sources { copy, modules, memory };
        unwind::walk(&sources, *program_counter)
            .map_err(|address| format!("it can't be unwound beyond {}", modules.name(address)))
    }

    /// There is nothing more to look at for now: gives memory back. A library may also be replaced
    /// by another one before the next look.
    pub(super) fn rest(&mut self) {
        if self.modules.take().is_some() {
            backtrace::clear_symbol_cache();
        }
    }
}
