//! The return addresses on a copied stack, found by the tables that compilers write for unwinding
//! (`.eh_frame`; DWARF 5, section 6.4, and the System V ABI of x86-64, section 3.6.2).
//!
//! A thread that was interrupted gives all registers that are needed. The kernel gives
//! two of a sleeping thread, the stack pointer and the program counter. On x86-64 nearly all functions
//! are unwound with these two. A function with a frame pointer needs `rbp`, which is known only if a
//! function further inside has saved it. If none has, each place on the stack is tried that the
//! frame could end at. A trial is accepted if the return address there follows a call of the very
//! function that it returns from (see `caller`), if no frame further outside contradicts its caller
//! in the same way, and if the walk ends at the outermost function, which the caller names. If two
//! different trials pass, neither is accepted. musl has no tables. From its functions the walk goes to the
//! innermost return address that follows a call of code without tables, if that leads to the outermost
//! function. `aarch64` says what is tried there.

use gimli::{CfaRule, Register, RegisterRule, UnwindContext};

use super::caller::Call;
use super::machine::{self, COUNT, FP, LEAST_FRAME, PC, RETURN, SAVED, SP};
use super::memory::{Copy, Memory};
use super::modules::{Entry, Modules, Tables};

/// Deeper stacks are given up.
const MOST_FRAMES: usize = 512;

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
    values: [Option<u64>; COUNT],
    /// The program counter is where the frame goes on, behind a call.
    is_behind_call: bool,
}

/// A walk that has not reached the outermost function yet.
#[derive(Debug)]
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
    NeedsTrial(Unknown),
}

/// What a walk has to find out by trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unknown {
    /// The value of the register. The frame ends this many bytes above that.
    FramePointer(i64),
    /// Where the function returns to in which the thread sleeps.
    ReturnAddress,
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
            let here = self.registers.get(PC).unwrap_or_default();
            match self.step(sources, context).ok_or(here)? {
                Step::Outwards => {}
                Step::End => return Ok(self.addresses),
                Step::NeedsTrial(_) if self.check != Check::Nothing => return Err(here),
                Step::NeedsTrial(Unknown::ReturnAddress) if self.addresses.len() > 1 => return Err(here),
                Step::NeedsTrial(unknown) => return self.guess(unknown, sources, context).ok_or(here),
            }
        }
        Err(self.registers.get(PC).unwrap_or_default())
    }

    /// Goes from a frame to that of its caller.
    fn step(&mut self, sources: &Sources<'_>, context: &mut UnwindContext<usize>) -> Option<Step> {
        let Some(here) = self.registers.get(PC) else { return Some(Step::NeedsTrial(Unknown::ReturnAddress)) };
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
            None if register == FP => return Some(Step::NeedsTrial(Unknown::FramePointer(offset))),
            None => return None,
        };
        let frame_end = base.checked_add_signed(offset)?;
        let mut outer = [None; COUNT];
        for register in SAVED {
            outer[usize::from(register.0)] = match row.register(register) {
                RegisterRule::Offset(offset) => Some(sources.copy.word(frame_end.checked_add_signed(offset)?)?),
                RegisterRule::Undefined | RegisterRule::SameValue => self.registers.get(register),
                _ => None,
            };
        }
        outer[usize::from(SP.0)] = Some(frame_end);
        outer[usize::from(PC.0)] = outer[usize::from(RETURN.0)].map(machine::address);
        let outer = Registers { values: outer, is_behind_call: !entry.is_signal_trampoline() };
        // Frames lie in the order of the calls.
        if self.registers.get(SP).is_some_and(|inner| frame_end < inner + LEAST_FRAME) {
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
    /// thread may be at the jump that is all of a stub, which no frame stands for. All else without
    /// tables is a function, of musl say.
    fn leave_stub(&mut self, sources: &Sources<'_>) -> Option<Step> {
        let function = Some(Step::NeedsTrial(Unknown::ReturnAddress));
        if self.registers.is_behind_call {
            return function;
        }
        let here = self.registers.get(PC)?;
        let (back, stack_pointer) = machine::leave_stub(&self.registers, sources.copy)?;
        let behind = self.registers.with(PC, Some(back)).with(SP, Some(stack_pointer));
        let outer = Registers { is_behind_call: true, ..behind };
        if Call::before(&outer, here, sources) != Call::Same {
            return function;
        }
        self.registers = outer;
        Some(Step::Outwards)
    }

    /// Tries all that the registers may be. Of return addresses the innermost is the function's: those of
    /// its callers lead to the outermost function, too.
    fn guess(&self, unknown: Unknown, sources: &Sources<'_>, context: &mut UnwindContext<usize>) -> Option<Vec<u64>> {
        let check = if unknown == Unknown::ReturnAddress { Check::Nothing } else { Check::IsSame };
        let mut found: Option<Vec<u64>> = None;
        for (registers, skipped) in machine::trials(&self.registers, unknown, sources) {
            let mut trial = Walk { addresses: self.addresses.clone(), registers, check };
            trial.addresses.extend(skipped);
            match trial.finish(sources, context) {
                Ok(addresses) if unknown == Unknown::ReturnAddress => return Some(addresses),
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
        let known = [(SP, stack_pointer), (PC, program_counter)];
        Registers { is_behind_call: is_in_call, ..Registers::interrupted(known) }
    }

    /// Those of a thread that goes on exactly there, and not behind a call.
    pub(super) fn interrupted(known: impl IntoIterator<Item = (Register, u64)>) -> Registers {
        let mut values = [None; COUNT];
        known.into_iter().for_each(|(register, value)| values[usize::from(register.0)] = Some(value));
        Registers { values, is_behind_call: false }
    }

    pub(super) fn get(&self, register: Register) -> Option<u64> {
        *self.values.get(usize::from(register.0))?
    }

    /// Those of a frame that has called another one.
    pub(super) fn behind_call(known: impl IntoIterator<Item = (Register, u64)>) -> Registers {
        Registers { is_behind_call: true, ..Registers::interrupted(known) }
    }

    pub(super) fn with(&self, register: Register, value: Option<u64>) -> Registers {
        let mut registers = self.clone();
        registers.values[usize::from(register.0)] = value;
        registers
    }

    /// The tables of the function that the program counter is in.
    fn entry<'a>(&self, sources: &Sources<'a>) -> Option<(&'a Tables, Entry<'a>)> {
        let address = self.get(PC)?.checked_sub(u64::from(self.is_behind_call))?;
        let tables = sources.modules.find(address)?.tables(sources.memory)?;
        Some((tables, tables.entry(address)?))
    }
}
