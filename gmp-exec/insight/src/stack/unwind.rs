//! The return addresses on a copied stack, found by the tables that compilers write for unwinding
//! (`.eh_frame`; DWARF 5, section 6.4, and the System V ABI of x86-64, section 3.6.2).
//!
//! A thread that was interrupted gives all registers that are needed. The kernel gives
//! two of a sleeping thread, the stack pointer and the program counter. Nearly all functions are
//! unwound with these two. A function with a frame pointer needs `rbp`, which is known only if a
//! function further inside has saved it. If none has, each place on the stack is tried that the
//! frame could end at. A trial is accepted if the return address there follows a call of the very
//! function that it returns from (see `caller`), if no frame further outside contradicts its caller
//! in the same way, and if the walk ends at the outermost function, which the caller names. If two
//! different trials pass, neither is accepted.

use gimli::{CfaRule, Register, RegisterRule, UnwindContext, X86_64};

use super::caller::Call;
use super::memory::{Copy, Memory};
use super::modules::{Entry, Modules, Tables};

/// Deeper stacks are given up.
const MOST_FRAMES: usize = 512;
/// So many bytes of the stack are tried as the end of a frame.
const SEARCHED: u64 = 16 * 1024;
/// The registers that a function must restore: `rbx`, `rbp`, `r12` to `r15`.
const SAVED: [Register; 6] = [X86_64::RBX, X86_64::RBP, X86_64::R12, X86_64::R13, X86_64::R14, X86_64::R15];

/// Where everything is read from.
pub(super) struct Sources<'a> {
    pub(super) copy: &'a Copy,
    pub(super) modules: &'a Modules,
    pub(super) memory: &'a Memory,
    /// Where the function begins in which a walk ends.
    pub(super) outermost: u64,
}

/// The registers in a frame, as far as they are known.
#[derive(Clone, Debug)]
pub(super) struct Registers {
    values: [Option<u64>; 17],
    /// The program counter is where the frame goes on, behind a call.
    is_behind_call: bool,
}

/// A walk that has not reached the outermost function yet.
#[derive(Clone, Debug)]
struct Walk {
    addresses: Vec<u64>,
    registers: Registers,
    check: Check,
}

/// What the call of a function must fulfil, if a register was guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    Nothing,
    /// It must be a call of this very function.
    IsSame,
    /// It must not be one of another function.
    MayBeSame,
}

enum Step {
    Outwards,
    /// This is the outermost function.
    End,
    /// The frame ends this many bytes below the value of `rbp`, which is not known.
    NeedsFramePointer(i64),
}

/// Where all frames are, the innermost first: an address in the frame's call of the one before, or
/// in the instruction at which the thread goes on.
///
/// # Errors
///
/// The program counter from which the tables do not lead to the outermost function.
pub(super) fn walk(sources: &Sources<'_>, registers: Registers) -> Result<Vec<u64>, u64> {
    let mut context = UnwindContext::new();
    let walk = Walk { addresses: Vec::new(), registers, check: Check::Nothing };
    walk.finish(sources, &mut context)
}

impl Walk {
    fn finish(mut self, sources: &Sources<'_>, context: &mut UnwindContext<usize>) -> Result<Vec<u64>, u64> {
        while self.addresses.len() < MOST_FRAMES {
            let here = self.registers.get(X86_64::RA).unwrap_or_default();
            match self.step(sources, context).ok_or(here)? {
                Step::Outwards => {}
                Step::End => return Ok(self.addresses),
                Step::NeedsFramePointer(_) if self.check != Check::Nothing => return Err(here),
                Step::NeedsFramePointer(offset) => return self.guess(offset, sources, context).ok_or(here),
            }
        }
        Err(self.registers.get(X86_64::RA).unwrap_or_default())
    }

    /// Goes from a frame to that of its caller.
    fn step(&mut self, sources: &Sources<'_>, context: &mut UnwindContext<usize>) -> Option<Step> {
        let here = self.registers.get(X86_64::RA)?;
        let Some((tables, entry)) = self.registers.entry(sources) else { return self.leave_stub(sources) };
        let looked_up = here - u64::from(self.registers.is_behind_call);
        if entry.initial_address() == sources.outermost {
            self.addresses.push(looked_up);
            return Some(Step::End);
        }
        let row = entry.unwind_info_for_address(&tables.frames(), tables.bases(), context, looked_up).ok()?;
        let CfaRule::RegisterAndOffset { register, offset } = *row.cfa() else { return None };
        let base = match self.registers.get(register) {
            Some(base) => base,
            None if register == X86_64::RBP => return Some(Step::NeedsFramePointer(offset)),
            None => return None,
        };
        let frame_end = base.checked_add_signed(offset)?;
        let mut outer = [None; 17];
        for register in SAVED.into_iter().chain([X86_64::RA]) {
            outer[usize::from(register.0)] = match row.register(register) {
                RegisterRule::Offset(offset) => Some(sources.copy.word(frame_end.checked_add_signed(offset)?)?),
                RegisterRule::Undefined | RegisterRule::SameValue => self.registers.get(register),
                _ => None,
            };
        }
        outer[usize::from(X86_64::RSP.0)] = Some(frame_end);
        let outer = Registers { values: outer, is_behind_call: !entry.is_signal_trampoline() };
        // Frames lie in the order of the calls.
        if frame_end <= self.registers.get(X86_64::RSP)? {
            return None;
        }
        if !self.check.is_passed_by(|| Call::before(&outer, entry.initial_address(), sources)) {
            return None;
        }
        if self.check == Check::IsSame {
            self.check = Check::MayBeSame;
        }
        self.addresses.push(looked_up);
        self.registers = outer;
        Some(Step::Outwards)
    }

    /// Goes from a stub of the linker, which has no tables, to what has called it. An interrupted
    /// thread may be at the jump that is all of a stub, which no frame stands for.
    fn leave_stub(&mut self, sources: &Sources<'_>) -> Option<Step> {
        let (here, top) = (self.registers.get(X86_64::RA)?, self.registers.get(X86_64::RSP)?);
        let mut outer = Registers { is_behind_call: true, ..self.registers.clone() };
        outer.values[usize::from(X86_64::RA.0)] = Some(sources.copy.word(top)?);
        outer.values[usize::from(X86_64::RSP.0)] = Some(top + 8);
        let is_called = !self.registers.is_behind_call && Call::before(&outer, here, sources) == Call::Same;
        self.registers = outer;
        is_called.then_some(Step::Outwards)
    }

    /// Tries each place that may be the end of this frame.
    fn guess(&self, offset: i64, sources: &Sources<'_>, context: &mut UnwindContext<usize>) -> Option<Vec<u64>> {
        let start = self.registers.get(X86_64::RSP)?;
        let mut found: Option<Vec<u64>> = None;
        // A frame ends at a multiple of 16, and the return address is below its end.
        let end = sources.copy.end().min(start + SEARCHED);
        for frame_end in ((start + 16).next_multiple_of(16)..end).step_by(16) {
            let Some(back) = sources.copy.word(frame_end - 8) else { break };
            if sources.modules.find(back).is_none() {
                continue;
            }
            let mut trial = self.clone();
            trial.check = Check::IsSame;
            trial.registers.values[usize::from(X86_64::RBP.0)] = frame_end.checked_add_signed(-offset);
            match trial.finish(sources, context) {
                Ok(addresses) if found.as_ref().is_some_and(|found| *found != addresses) => return None,
                Ok(addresses) => found = Some(addresses),
                Err(_) => {}
            }
        }
        found
    }
}

impl Check {
    fn is_passed_by(self, call: impl FnOnce() -> Call) -> bool {
        match self {
            Check::Nothing => true,
            Check::IsSame => call() == Call::Same,
            Check::MayBeSame => call() != Call::Other,
        }
    }
}

impl Registers {
    /// Those of a thread that sleeps. In a system call it goes on behind the instruction that
    /// calls.
    pub(super) fn asleep(stack_pointer: u64, program_counter: u64, is_in_call: bool) -> Registers {
        let known = [(X86_64::RSP, stack_pointer), (X86_64::RA, program_counter)];
        Registers { is_behind_call: is_in_call, ..Registers::interrupted(known) }
    }

    /// Those of a thread that goes on exactly there, and not behind a call.
    pub(super) fn interrupted(known: impl IntoIterator<Item = (Register, u64)>) -> Registers {
        let mut values = [None; 17];
        known.into_iter().for_each(|(register, value)| values[usize::from(register.0)] = Some(value));
        Registers { values, is_behind_call: false }
    }

    pub(super) fn get(&self, register: Register) -> Option<u64> {
        *self.values.get(usize::from(register.0))?
    }

    /// The tables of the function that the program counter is in.
    fn entry<'a>(&self, sources: &Sources<'a>) -> Option<(&'a Tables, Entry<'a>)> {
        let address = self.get(X86_64::RA)?.checked_sub(u64::from(self.is_behind_call))?;
        let tables = sources.modules.find(address)?.tables(sources.memory)?;
        Some((tables, tables.entry(address)?))
    }
}
