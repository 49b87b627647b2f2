//! Functions without tables for unwinding, such as musl's. A thread that is in one was in a function
//! with tables before, and that function's return address is on the stack.

use std::ops::Range;

use super::caller::instruction_before;
use super::machine;
use super::unwind::Sources;

/// The instruction before a return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    /// A call of this function.
    Direct(u64),
    /// A call of what a register or memory has held.
    Indirect,
}

impl Instruction {
    #[cfg(target_arch = "aarch64")]
    pub(super) fn target(self) -> Option<u64> {
        match self {
            Instruction::Direct(target) => Some(target),
            Instruction::Indirect => None,
        }
    }
}

/// Each return address on this part of the stack that is in a function with tables, and may be behind a
/// call of one without; and where it lies. The innermost comes first. Functions without tables that
/// call each other are left in one step.
pub(super) fn return_addresses(stack: Range<u64>, sources: &Sources<'_>) -> impl Iterator<Item = (u64, u64)> {
    let word = |place| Some((place, machine::address(sources.copy.word(place)?)));
    stack.step_by(8).filter_map(word).filter(|&(_, back)| may_be_behind_such_call(back, sources))
}

/// Whether this is in a function with tables, behind a call of code of the same module that has none, or
/// behind an indirect call.
fn may_be_behind_such_call(back: u64, sources: &Sources<'_>) -> bool {
    let Some(module) = sources.modules.find(back) else { return false };
    let has_tables = |address| module.tables(sources.memory).is_some_and(|tables| tables.entry(address).is_some());
    let calls_such = |call| match call {
        Instruction::Direct(target) => module.contains(target) && !has_tables(target),
        Instruction::Indirect => true,
    };
    has_tables(back - 1) && instruction_before(back, sources.memory).is_some_and(calls_such)
}
