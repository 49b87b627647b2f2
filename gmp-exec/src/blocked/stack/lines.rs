//! The functions at an address, and the line of each.
//!
//! Compilers give some instructions no line (DWARF 5, section 6.2.2: line 0), and some that of a
//! function that is inlined next to them. Such an instruction gets the line of one that is a little
//! before it in the same function, as `llvm-symbolizer --approximate-line-info=before` does.

use std::ffi::c_void;
use std::ptr;

/// So many bytes before an instruction are searched for its line.
const FARTHEST: u64 = 64;

/// A function, as the debugging information names it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) line: Option<u32>,
}

/// The function at the address, inlined ones before those that contain them. `is_misplaced`: whether
/// the line can't be one of this function.
pub(super) fn functions(address: u64, is_misplaced: impl Fn(&Function) -> bool) -> Vec<Function> {
    let mut functions = written(address);
    if let Some(last) = functions.last_mut().filter(|last| is_misplaced(last)) {
        let before = (1..=FARTHEST).map_while(|distance| written(address.checked_sub(distance)?).pop());
        if let Some(placed) = nearest(before, last, is_misplaced) {
            *last = placed;
        }
    }
    functions
}

/// The first one that is in its place. A line of another function is none.
fn nearest(
    before: impl Iterator<Item = Function>,
    function: &Function,
    is_misplaced: impl Fn(&Function) -> bool,
) -> Option<Function> {
    before.take_while(|before| before.name == function.name).find(|before| !is_misplaced(before))
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
    use crate::blocked::stack::memory::Memory;
    use crate::blocked::stack::modules::Modules;

    const COMPUTES: RangeInclusive<u32> = (line!() + 2)..=(line!() + 9);
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
        let is_here = |function: &Function| function.path.as_ref().is_some_and(|path| path.ends_with("stack/lines.rs"));
        let is_misplaced = |function: &Function| function.line.is_none() || !is_here(function);
        for address in start..start + entry.len() {
            let functions = functions(address, is_misplaced);
            let last = functions.last().unwrap();
            assert!(last.name.as_ref().unwrap().ends_with("computes"), "{functions:#?}");
            let is_own = is_here(last) && last.line.is_some_and(|line| COMPUTES.contains(&line));
            assert!(is_own, "{:#x}: {functions:#?}", address - start);
        }
    }

    #[test]
    fn the_line_of_another_function_is_not_taken() {
        let function = |name: &str, line| Function { name: Some(name.to_owned()), path: None, line };
        let nearest = |before: [Function; 3]| {
            nearest(before.into_iter(), &function("a", None), |function| function.line.is_none())
        };
        let own = [function("a", None), function("a", Some(2)), function("a", Some(1))];
        assert_eq!(nearest(own), Some(function("a", Some(2))));
        assert_eq!(nearest([function("a", None), function("b", Some(2)), function("a", Some(1))]), None);
    }
}
