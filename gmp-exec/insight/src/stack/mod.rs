//! Stacks of this process's threads: unwound outside of the thread, from a copy, and put into
//! words.
//!
//! The caller says where a thread is, and makes sure that the copy belongs to that moment. This
//! module neither stops nor wakes a thread.

#[cfg_attr(target_arch = "aarch64", path = "aarch64_caller.rs")]
#[cfg_attr(target_arch = "x86_64", path = "x86_64_caller.rs")]
mod caller;
mod lines;
#[cfg_attr(target_arch = "aarch64", path = "aarch64.rs")]
#[cfg_attr(target_arch = "x86_64", path = "x86_64.rs")]
mod machine;
mod memory;
mod modules;
mod symbols;
mod unwind;
mod without_tables;

use std::io;

pub use gimli::{AArch64, Register, X86_64};

pub use self::machine::PC as PROGRAM_COUNTER;
pub use self::memory::Copy;
use self::memory::Memory;
use self::modules::Modules;
pub use self::symbols::{Frame, Origin};
use self::unwind::{Registers, Sources};

/// More of a stack is not copied: what is deeper can't be unwound.
pub const MOST_BYTES: usize = 256 * 1024;

/// The used part of a stack, and the registers, as they were at one moment.
#[derive(Debug)]
pub struct Taken {
    memory: Memory,
    copy: Copy,
    registers: Registers,
}

impl Taken {
    /// Copies the stack of a thread that sleeps there, in a system call or elsewhere (on a page,
    /// say).
    ///
    /// # Errors
    ///
    /// Fails if the process may not read its own memory.
    pub fn asleep(stack_pointer: u64, program_counter: u64, is_in_call: bool) -> io::Result<Taken> {
        let memory = Memory::open()?;
        let copy = Copy::of(&memory, stack_pointer, MOST_BYTES);
        Ok(Taken { memory, copy, registers: Registers::asleep(stack_pointer, program_counter, is_in_call) })
    }

    /// The copy that a thread has made of its own stack when it was interrupted, with the registers
    /// at that moment. [`PROGRAM_COUNTER`] is one of them.
    ///
    /// # Errors
    ///
    /// Fails if the process may not read its own memory.
    pub fn interrupted(registers: impl IntoIterator<Item = (Register, u64)>, copy: Copy) -> io::Result<Taken> {
        Ok(Taken { memory: Memory::open()?, copy, registers: Registers::interrupted(registers) })
    }
}

/// What is needed to unwind stacks, kept from one to the next.
#[derive(Debug, Default)]
pub struct Stacks {
    modules: Option<Modules>,
}

impl Stacks {
    /// Where all frames are, the innermost first: an address in the frame's call of the one before,
    /// or in the instruction at which the thread goes on. The last frame is that of the function at
    /// `outermost`.
    ///
    /// # Errors
    ///
    /// Why there are none, in words.
    pub fn addresses(&mut self, taken: &Taken, outermost: u64) -> Result<Vec<u64>, String> {
        let Taken { memory, copy, registers } = taken;
        let modules = match &mut self.modules {
            Some(modules) => modules,
            none => none.insert(Modules::read().map_err(|error| format!("/proc/self/maps: {error}"))?),
        };
        let sources = Sources { copy, modules, memory, outermost };
        let addresses = unwind::walk(&sources, registers.clone());
        addresses.map_err(|address| format!("it can't be unwound beyond {}", modules.name(address)))
    }

    /// There is nothing more to unwind for now: gives memory back. A library may also be replaced by
    /// another one before the next stack.
    pub fn rest(&mut self) {
        self.modules = None;
    }
}

/// Where all frames of this thread are, the innermost first: addresses in their calls.
pub fn here() -> Vec<u64> {
    let mut addresses = Vec::new();
    backtrace::trace(|frame| {
        // Behind the call. A thread's first function returns to no address.
        let call = (frame.ip().addr() as u64).checked_sub(1);
        addresses.extend(call);
        call.is_some()
    });
    addresses
}

/// The frames of the task alone, the innermost first and the task's future last. If the program has
/// no names, all frames. Reads the debugging information of the program.
pub fn frames(addresses: &[u64]) -> Vec<Frame> {
    symbols::frames(addresses, &Modules::read().unwrap_or_default())
}

/// Gives the memory for debugging information back.
pub fn forget_symbols() {
    backtrace::clear_symbol_cache();
}
