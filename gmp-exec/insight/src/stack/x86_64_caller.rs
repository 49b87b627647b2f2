//! Whether a return address follows a call of a certain function, found in the machine code.

use gimli::{Register, X86_64};

use super::memory::Memory;
use super::unwind::{Registers, Sources};
use super::without_tables::Instruction;

/// What the instruction before a return address says of the function that returns there. The surer
/// one comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Call {
    /// It calls that function.
    Same,
    /// It calls what a register, or memory that has changed since, has held: any function. Or it
    /// calls a function that may go on in such a function.
    Unknown,
    /// It calls another function, or is no call.
    Other,
}

/// A call may lead to a function through so many jumps: a stub for a function of a library, or a
/// function whose last act is to go on in another one.
const MOST_JUMPS: usize = 3;
/// So many bytes of a function are searched for jumps,
const MOST_CODE: u64 = 4096;
/// and so many of what is no function: a stub of the linker.
const STUB: u64 = 16;
/// The longest call has 7 bytes. Without optimisation the register of a call is loaded before the
/// arguments.
const LONGEST: usize = 40;

impl Call {
    /// Judges the instruction before the program counter of the caller, by the caller's registers.
    ///
    /// The bytes before an address can be read in several ways: `e8` may also be a part of the
    /// offset from which an instruction before the call loads. The reading that fits best counts.
    pub(super) fn before(caller: &Registers, function: u64, sources: &Sources<'_>) -> Call {
        let Some(back) = caller.get(X86_64::RA) else { return Call::Other };
        let Some(start) = back.checked_sub(LONGEST as u64) else { return Call::Other };
        let code = sources.memory.read(start, LONGEST);
        let leads = |target| leads_to(sources, target, function, MOST_JUMPS);
        let judge = |target| {
            if leads(target) {
                Call::Same
            } else if code_of(sources, target).windows(2).any(is_indirect_jump) {
                Call::Unknown
            } else {
                Call::Other
            }
        };
        let held = held_target(&code, caller);
        let readings = [
            target(&code, back, sources.memory).map(judge),
            held.map(judge),
            loaded_targets(&code, back, sources.memory).into_iter().any(leads).then_some(Call::Same),
            (held.is_none() && is_indirect(&code)).then_some(Call::Unknown),
        ];
        readings.into_iter().flatten().min().unwrap_or(Call::Other)
    }
}

/// `None`: it is no call.
pub(super) fn instruction_before(back: u64, memory: &Memory) -> Option<Instruction> {
    let code = memory.read(back.checked_sub(LONGEST as u64)?, LONGEST);
    let indirect = is_indirect(&code).then_some(Instruction::Indirect);
    target(&code, back, memory).map(Instruction::Direct).or(indirect)
}

/// `call rel32` is `e8`, `call [rip + rel32]` is `ff 15`. Both are relative to the next
/// instruction.
fn target(code: &[u8], back: u64, memory: &Memory) -> Option<u64> {
    match *code {
        [.., 0xff, 0x15, a, b, c, d] => memory.word(relative(back, [a, b, c, d])),
        [.., 0xe8, a, b, c, d] => Some(relative(back, [a, b, c, d])),
        _ => None,
    }
}

/// What `mov rax, [rip + rel32]` (`48 8b 05`) may have loaded before `call rax` (`ff d0`).
fn loaded_targets(code: &[u8], back: u64, memory: &Memory) -> Vec<u64> {
    let [earlier @ .., 0xff, 0xd0] = code else { return Vec::new() };
    let next = |index: usize| back - 2 - (earlier.len() - index) as u64;
    let loads = earlier.windows(7).enumerate().filter_map(|(index, bytes)| match *bytes {
        [0x48, 0x8b, 0x05, a, b, c, d] => memory.word(relative(next(index + 7), [a, b, c, d])),
        _ => None,
    });
    loads.collect()
}

/// `call` through a register that functions must restore, so that the caller's value may be known:
/// `ff d3` (`rbx`), `ff d5` (`rbp`), `41 ff d4` to `41 ff d7` (`r12` to `r15`). Optimised loops
/// call like this.
fn held_target(code: &[u8], caller: &Registers) -> Option<u64> {
    match *code {
        [.., 0x41, 0xff, register @ 0xd4..=0xd7] => caller.get(Register(u16::from(register - 0xd0) + 8)),
        [.., 0xff, 0xd3] => caller.get(X86_64::RBX),
        [.., 0xff, 0xd5] => caller.get(X86_64::RBP),
        _ => None,
    }
}

/// `call` through a register or through memory at a register: `ff /2`. Not `ff 15`, whose target is
/// known.
fn is_indirect(code: &[u8]) -> bool {
    (2..=7.min(code.len())).any(|length| {
        let call = &code[code.len() - length..];
        call[0] == 0xff && call[1] >> 3 & 7 == 2 && call[1] != 0x15 && length_of_indirect(call[1]) == length
    })
}

/// The opcode and this byte; a byte more for a register that is an index (`rsp`'s number says so);
/// an offset of one or four bytes.
fn length_of_indirect(operand: u8) -> usize {
    let has_index = operand & 7 == 4 && operand >> 6 != 3;
    let offset = match operand >> 6 {
        1 => 1,
        2 => 4,
        _ => 0,
    };
    2 + usize::from(has_index) + offset
}

fn leads_to(sources: &Sources<'_>, target: u64, function: u64, jumps: usize) -> bool {
    target == function
        || jumps > 0 && jumps_of(sources, target).into_iter().any(|next| leads_to(sources, next, function, jumps - 1))
}

/// The targets of `jmp rel32` (`e9`) and `jmp [rip + rel32]` (`ff 25`) in the function that begins
/// at this address, if they are beginnings of functions. Instructions are not decoded: bytes inside
/// of an instruction that look like such a jump almost never lead to a function's beginning.
fn jumps_of(sources: &Sources<'_>, start: u64) -> Vec<u64> {
    let code = code_of(sources, start);
    let next = |index: usize| start + index as u64;
    let targets = code.windows(6).enumerate().filter_map(|(index, bytes)| match *bytes {
        [0xe9, a, b, c, d, _] => Some(relative(next(index + 5), [a, b, c, d])),
        [0xff, 0x25, a, b, c, d] => sources.memory.word(relative(next(index + 6), [a, b, c, d])),
        _ => None,
    });
    targets.filter(|&target| target != start && length_of_function(sources, target).is_some()).collect()
}

/// `jmp [register + offset]`: `ff /4` with an offset of one or four bytes. A function of one line
/// that calls a method of a table ends like this, and leaves no frame. The jumps of a `match` have
/// no such offset.
fn is_indirect_jump(code: &[u8]) -> bool {
    matches!(*code, [0xff, 0x60..=0x67 | 0xa0..=0xa7])
}

fn code_of(sources: &Sources<'_>, start: u64) -> Vec<u8> {
    let length = length_of_function(sources, start).unwrap_or(STUB).min(MOST_CODE);
    sources.memory.read(start, length as usize)
}

/// `None`: no function begins at this address.
fn length_of_function(sources: &Sources<'_>, start: u64) -> Option<u64> {
    let entry = sources.modules.find(start)?.tables(sources.memory)?.entry(start)?;
    (entry.initial_address() == start).then(|| entry.len())
}

fn relative(next: u64, offset: [u8; 4]) -> u64 {
    next.wrapping_add_signed(i64::from(i32::from_le_bytes(offset)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::memory::Copy;
    use crate::stack::modules::Modules;

    /// Far enough for an `e8` in the offset from the code.
    const CELL: usize = 0xe840;

    #[inline(never)]
    fn callee() -> u32 {
        std::hint::black_box(1)
    }

    /// Judges a return address behind this code. A pointer to `callee` lies `CELL` bytes behind the
    /// beginning of the code.
    fn judge(code: &[u8], function: u64) -> Call {
        let mut bytes = vec![0x90_u8; LONGEST + CELL + 8];
        bytes[LONGEST..][..code.len()].copy_from_slice(code);
        bytes[LONGEST + CELL..].copy_from_slice(&address(callee).to_ne_bytes());
        let back = bytes.as_ptr().addr() as u64 + (LONGEST + code.len()) as u64;
        let (memory, modules, copy) = (Memory::open().unwrap(), Modules::read().unwrap(), Copy::new(0, Vec::new()));
        let sources = Sources { copy: &copy, modules: &modules, memory: &memory, outermost: 0 };
        Call::before(&Registers::interrupted([(X86_64::RA, back)]), function, &sources)
    }

    fn address(function: fn() -> u32) -> u64 {
        function as usize as u64
    }

    /// The offset counts from the next instruction, and its second byte looks like `call rel32`.
    #[test]
    fn a_call_is_also_seen_behind_a_byte_that_looks_like_another_call() {
        assert_eq!(callee(), 1);
        let [a, b, c, d] = (CELL as u32 - 7).to_le_bytes();
        assert_eq!(b, 0xe8);
        let code = [0x48, 0x8b, 0x05, a, b, c, d, 0xff, 0xd0];
        assert_eq!(judge(&code, address(callee)), Call::Same);
        assert_eq!(judge(&code, address(callee) + 1), Call::Unknown, "rax may have been loaded elsewhere");
    }

    #[test]
    fn the_target_of_a_call_through_memory_is_known() {
        let [a, b, c, d] = (CELL as u32 - 6).to_le_bytes();
        let code = [0xff, 0x15, a, b, c, d];
        assert_eq!(judge(&code, address(callee)), Call::Same);
        assert_eq!(judge(&code, address(callee) + 1), Call::Other);
        assert_eq!(judge(&[0x90; 6], address(callee)), Call::Other, "no call");
    }

    #[test]
    fn the_jump_to_a_method_of_a_table_is_told_from_those_of_a_match() {
        assert!(is_indirect_jump(&[0xff, 0x60]), "jmp [rax + 0x28]");
        assert!(is_indirect_jump(&[0xff, 0xa3]), "jmp [rbx + 0x100]");
        // jmp rax; jmp [rax + rcx * 8]; call [rax + 0x28]; jmp [rip + 0x100].
        for code in [[0xff, 0xe0], [0xff, 0x24], [0xff, 0x50], [0xff, 0x25]] {
            assert!(!is_indirect_jump(&code), "{code:x?}");
        }
    }

    #[test]
    fn calls_through_registers_are_told_from_other_code() {
        let calls: [&[u8]; 6] = [
            &[0xff, 0xd0],             // call rax
            &[0x41, 0xff, 0xd4],       // call r12
            &[0xff, 0x50, 0x18],       // call [rax + 0x18]
            &[0xff, 0x54, 0x24, 0x10], // call [rsp + 0x10]
            &[0xff, 0x93, 0, 1, 0, 0], // call [rbx + 0x100]
            &[0x42, 0xff, 0x14, 0xe8], // call [rax + r13 * 8]
        ];
        for call in calls {
            let mut code = vec![0x90; 7 - call.len()];
            code.extend(call);
            assert!(is_indirect(&code), "{call:x?}");
        }
        // jmp rax; push [rax]; mov eax, edi and ret; nothing.
        for code in
            [[0x90; 7], [0, 0, 0, 0, 0, 0xff, 0xe0], [0, 0, 0, 0, 0, 0xff, 0x30], [0, 0, 0, 0, 0x89, 0xf8, 0xc3]]
        {
            assert!(!is_indirect(&code), "{code:x?}");
        }
    }
}
