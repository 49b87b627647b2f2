//! The functions at an address, and the line of each.
//!
//! Compilers give some instructions no line (DWARF 5, section 6.2.2: line 0), and some that of a
//! function that is inlined next to them. Such an instruction gets the line of one that is a little
//! before it in the same function, as `llvm-symbolizer --approximate-line-info=before` does, or the
//! function's first one.

use std::ffi::c_void;
use std::ptr;

/// So many bytes before an instruction are searched for its line: a dozen instructions.
const FARTHEST: usize = 64;

/// A function, as the debugging information names it.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) line: Option<u32>,
}

/// The functions at the address, inlined ones before those that contain them. The last one begins
/// at `start`, if that is known.
pub(super) fn functions(address: u64, start: Option<u64>) -> Vec<Function> {
    let mut functions = written(address);
    if let (Some(last), Some(start)) = (functions.last_mut(), start)
        && let Some(first) = written(start).pop().filter(|first| first.line.is_some())
        && !last.is_placed_in(&first)
    {
        let mut before = (start..address).rev().take(FARTHEST).filter_map(|address| written(address).pop());
        *last = before.find(|before| before.is_placed_in(&first)).unwrap_or(first);
    }
    functions
}

impl Function {
    /// Whether this has a line, in the file of the function's first instruction.
    fn is_placed_in(&self, first: &Function) -> bool {
        self.line.is_some() && self.path == first.path
    }
}

/// What the debugging information says of the address.
fn written(address: u64) -> Vec<Function> {
    let mut functions = Vec::new();
    // It takes addresses behind a call, and looks at the byte before.
    let behind = ptr::without_provenance_mut::<c_void>(address as usize + 1);
    backtrace::resolve(behind, |symbol| {
        let function = Function {
            name: symbol.name().map(|name| format!("{name:#}")),
            path: symbol.filename().map(|path| path.to_string_lossy().into_owned()),
            line: symbol.lineno(),
        };
        if function.name.is_some() || function.path.is_some() {
            functions.push(function);
        }
    });
    functions
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::ops::RangeInclusive;

    use super::*;
    use crate::stack::memory::Memory;
    use crate::stack::modules::Modules;

    const COMPUTES: RangeInclusive<u32> = (line!() + 2)..=(line!() + 8);
    #[inline(never)]
    fn computes(most: u64) -> u64 {
        let mut sum = black_box(0_u64);
        while sum < most {
            sum = sum.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(black_box(1));
        }
        sum
    }

    /// A thread that computes is interrupted at any of them.
    #[test]
    fn each_instruction_has_a_line_of_its_function() {
        let (memory, modules) = (Memory::open().unwrap(), Modules::read().unwrap());
        assert_eq!(computes(black_box(1)), 1);
        let start = computes as fn(u64) -> u64 as usize as u64;
        let entry = modules.find(start).unwrap().tables(&memory).unwrap().entry(start).unwrap();
        for address in start..start + entry.len() {
            assert_eq!(modules.start_of_function(address, &memory), Some(start));
            let functions = functions(address, Some(start));
            let last = functions.last().unwrap();
            assert!(last.name.as_ref().unwrap().ends_with("computes"), "{functions:#?}");
            assert!(last.path.as_ref().unwrap().ends_with("stack/lines.rs"), "{:#x}: {functions:#?}", address - start);
            assert!(last.line.is_some_and(|line| COMPUTES.contains(&line)), "{:#x}: {functions:#?}", address - start);
        }
    }

    #[test]
    fn a_line_belongs_to_the_file_in_which_its_function_begins() {
        let at = |path: &str, line| Function { name: None, path: Some(path.to_owned()), line };
        let first = at("main.rs", Some(1));
        assert!(at("main.rs", Some(2)).is_placed_in(&first));
        assert!(!at("main.rs", None).is_placed_in(&first), "the compiler knows no line");
        assert!(!at("uint_macros.rs", Some(2)).is_placed_in(&first), "inlined");
    }
}
