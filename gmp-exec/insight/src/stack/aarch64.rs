//! What the unwinder knows of aarch64 (the ABI's "Procedure Call Standard", and "DWARF for the Arm
//! 64-bit Architecture").
//!
//! A call leaves its return address in `x30`, and a function that calls others saves `x29` and `x30`
//! side by side on the stack, its *frame record*, and lets `x29` point there. Of a thread that sleeps
//! neither is known:
//!
//! - In a function that calls none, such as glibc's `syscall`, the frame record of the caller is searched
//!   on the stack. A record is accepted if the function that it belongs to has a frame of just this size.
//!   That function has no line.
//! - In a function without tables, such as musl's, the frame record is searched whose return address
//!   leads to a function with tables.

use std::ops::Range;

use gimli::{AArch64, CfaRule, Register, UnwindContext};

use super::caller::instruction_before;
use super::memory::Copy;
use super::unwind::{Registers, Sources, Unknown};
use super::without_tables;

pub(super) const COUNT: usize = 33;
pub(super) const SP: Register = AArch64::SP;
pub(super) const FP: Register = AArch64::X29;
/// The number that stands for the program counter among the registers.
pub const PC: Register = Register(32);
/// Where the return address is, or what the rule for the return address is about.
pub(super) const RETURN: Register = AArch64::X30;
/// The registers that a function must restore, and that of the return address.
pub(super) const SAVED: [Register; 12] = [
    AArch64::X19,
    AArch64::X20,
    AArch64::X21,
    AArch64::X22,
    AArch64::X23,
    AArch64::X24,
    AArch64::X25,
    AArch64::X26,
    AArch64::X27,
    AArch64::X28,
    AArch64::X29,
    AArch64::X30,
];
/// A function that calls no other may have a frame of no bytes.
pub(super) const LEAST_FRAME: u64 = 0;

/// So many bytes of the stack are searched for a frame record.
const SEARCHED: u64 = 4096;

/// Return addresses may be signed in the bits that no address has.
pub(super) fn address(signed: u64) -> u64 {
    signed & 0x0000_ffff_ffff_ffff
}

/// The return address in code without tables, such as a stub of the linker, and the stack pointer
/// behind it.
pub(super) fn leave_stub(registers: &Registers, _: &Copy) -> Option<(u64, u64)> {
    Some((registers.get(RETURN)?, registers.get(SP)?))
}

/// What the registers may be in the caller of the function in which the thread is, and the frame that is
/// skipped.
pub(super) fn trials(registers: &Registers, unknown: Unknown, sources: &Sources<'_>) -> Vec<(Registers, Option<u64>)> {
    let Some(start) = registers.get(SP) else { return Vec::new() };
    let stack = start..sources.copy.end().min(start + SEARCHED);
    match (unknown, registers.get(PC)) {
        (Unknown::ReturnAddress, Some(here)) => callers_with_tables(here, stack, sources),
        _ => stack.step_by(8).filter_map(|record| caller(start, record, sources)).collect(),
    }
}

/// The frame records whose return addresses are in functions with tables. Their stack pointers are not
/// known.
fn callers_with_tables(here: u64, stack: Range<u64>, sources: &Sources<'_>) -> Vec<(Registers, Option<u64>)> {
    let found = without_tables::return_addresses(stack, sources);
    let records = found.filter_map(|(place, _)| record_at(place - 8, sources));
    records.map(|(frame, back)| (Registers::behind_call([(FP, frame), (PC, back)]), Some(here))).collect()
}

/// The registers in the caller, and the function that has called it, if this is the frame record of that
/// function.
fn caller(stack_pointer: u64, record: u64, sources: &Sources<'_>) -> Option<(Registers, Option<u64>)> {
    let (frame, back) = record_at(record, sources)?;
    let function = instruction_before(back, sources.memory)?.target()?;
    let end = frame_end(stack_pointer, record, function, sources)?;
    let known = [(SP, end), (FP, frame), (PC, back)];
    Some((Registers::behind_call(known), Some(function)))
}

/// The frame of the caller, which is further outside, and the return address.
fn record_at(place: u64, sources: &Sources<'_>) -> Option<(u64, u64)> {
    let (frame, back) = (sources.copy.word(place)?, address(sources.copy.word(place + 8)?));
    (frame > place).then_some((frame, back))
}

/// Where this function's frame ends, if the frame record is in it and the stack pointer at its
/// beginning.
fn frame_end(stack_pointer: u64, record: u64, function: u64, sources: &Sources<'_>) -> Option<u64> {
    let tables = sources.modules.find(function)?.tables(sources.memory)?;
    let entry = tables.entry(function).filter(|entry| entry.initial_address() == function)?;
    let (frames, mut context) = (tables.frames(), UnwindContext::new());
    let mut rows = entry.rows(&frames, tables.bases(), &mut context).ok()?;
    let (mut size, mut by_record) = (0, None);
    while let Some(row) = rows.next_row().ok()? {
        match *row.cfa() {
            CfaRule::RegisterAndOffset { register: SP, offset } => size = size.max(offset),
            CfaRule::RegisterAndOffset { register: FP, offset } => by_record = Some(record.checked_add_signed(offset)?),
            _ => return None,
        }
    }
    let end = stack_pointer.checked_add_signed(size)?;
    (by_record.unwrap_or(record + size as u64) == end).then_some(end)
}
