//! Whether a return address follows a call, found in the machine code. Each instruction has four
//! bytes.

use super::machine::PC;
use super::memory::Memory;
use super::unwind::{Registers, Sources};
use super::without_tables::Instruction;

/// What the instruction before a return address says of the function that returns there. Which
/// function that is follows from the frame records, and need not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Same,
    Other,
}

impl Call {
    pub(super) fn before(caller: &Registers, _: u64, sources: &Sources<'_>) -> Call {
        let call = caller.get(PC).and_then(|back| instruction_before(back, sources.memory));
        if call.is_some() { Call::Same } else { Call::Other }
    }
}

/// `None`: it is no call.
pub(super) fn instruction_before(back: u64, memory: &Memory) -> Option<Instruction> {
    let at = back.checked_sub(4)?;
    let word = u32::from_le_bytes(memory.read(at, 4).try_into().ok()?);
    call(word, at)
}

/// `bl` (direct) is `100101` and the distance in instructions, `blr` (indirect) is `d63f0000` with the
/// register in bits 5 to 9. Signed calls have other bits in the lowest byte and in bit 24.
fn call(word: u32, at: u64) -> Option<Instruction> {
    if word >> 26 == 0b10_0101 {
        let distance = (word << 6) as i32 >> 4;
        return Some(Instruction::Direct(at.wrapping_add_signed(i64::from(distance))));
    }
    (word & 0xfeff_f000 == 0xd63f_0000).then_some(Instruction::Indirect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_from_other_code() {
        assert_eq!(call(0x9400_0002, 0x1000), Some(Instruction::Direct(0x1008)), "bl forwards");
        assert_eq!(call(0x97ff_ffff, 0x1000), Some(Instruction::Direct(0xffc)), "bl backwards");
        assert_eq!(call(0xd63f_0100, 0), Some(Instruction::Indirect), "blr x8");
        for (word, name) in [(0xd65f_03c0, "ret"), (0x1400_0002, "b"), (0xd61f_0100, "br x8"), (0xd503_201f, "nop")] {
            assert_eq!(call(word, 0), None, "{name}");
        }
    }
}
