//! What the unwinder knows of x86-64 (the System V ABI, section 3.6.2).

use std::ops::Range;

use gimli::{Register, X86_64};

use super::memory::Copy;
use super::unwind::{Registers, Sources, Unknown};
use super::without_tables;

pub(super) const COUNT: usize = 17;
pub(super) const SP: Register = X86_64::RSP;
pub(super) const FP: Register = X86_64::RBP;
/// The number that stands for the program counter among the registers.
pub const PC: Register = X86_64::RA;
/// Where the return address is, or what the rule for the return address is about.
pub(super) const RETURN: Register = X86_64::RA;
/// The registers that a function must restore, and that of the return address.
pub(super) const SAVED: [Register; 7] =
    [X86_64::RBX, X86_64::RBP, X86_64::R12, X86_64::R13, X86_64::R14, X86_64::R15, X86_64::RA];
/// A frame has at least the return address.
pub(super) const LEAST_FRAME: u64 = 8;

/// So many bytes of the stack are tried as the end of a frame.
const SEARCHED: u64 = 16 * 1024;

pub(super) fn address(address: u64) -> u64 {
    address
}

/// The return address in code without tables, such as a stub of the linker, and the stack pointer
/// behind it.
pub(super) fn leave_stub(registers: &Registers, copy: &Copy) -> Option<(u64, u64)> {
    let top = registers.get(SP)?;
    Some((copy.word(top)?, top + 8))
}

/// What the registers may be, and a frame that is skipped.
pub(super) fn trials(registers: &Registers, unknown: Unknown, sources: &Sources<'_>) -> Vec<(Registers, Option<u64>)> {
    let Some(start) = registers.get(SP) else { return Vec::new() };
    let end = sources.copy.end().min(start + SEARCHED);
    match unknown {
        Unknown::FramePointer(offset) => frame_pointers(registers, offset, start..end, sources),
        Unknown::ReturnAddress => return_addresses(registers, start..end, sources),
    }
}

/// Each place that the frame may end at. It ends at a multiple of 16, and the return address is below.
fn frame_pointers(
    registers: &Registers,
    offset: i64,
    stack: Range<u64>,
    sources: &Sources<'_>,
) -> Vec<(Registers, Option<u64>)> {
    let ends = ((stack.start + 16).next_multiple_of(16)..stack.end).step_by(16);
    let is_end = |&end: &u64| sources.copy.word(end - 8).is_some_and(|back| sources.modules.find(back).is_some());
    ends.filter(is_end).map(|end| (registers.with(FP, end.checked_add_signed(-offset)), None)).collect()
}

/// The stack pointer of the caller is known: the call has put the return address there.
fn return_addresses(registers: &Registers, stack: Range<u64>, sources: &Sources<'_>) -> Vec<(Registers, Option<u64>)> {
    let found = without_tables::return_addresses(stack, sources);
    found.map(|(place, back)| (Registers::behind_call([(SP, place + 8), (PC, back)]), registers.get(PC))).collect()
}
