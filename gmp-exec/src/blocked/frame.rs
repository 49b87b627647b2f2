//! The frames of a stack in the report.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::report::BlockedCall;
use super::stack;
use crate::escaped::{Escaped, short};

/// Of a program without names, so many callers are given: the innermost may be std's.
const MOST_UNKNOWN: usize = 7;

/// The addresses of a stack, and once a report has asked for them, their names and lines: to find
/// those, tens of MiB of debugging information are read. Clones share the names.
#[derive(Clone, Debug)]
pub(super) struct Frames(Arc<Named>);

#[derive(Debug)]
struct Named {
    addresses: Vec<u64>,
    frames: OnceLock<Vec<BlockedFrame>>,
}

impl Frames {
    #[cfg_attr(
        not(all(
            feature = "blocked-stacks",
            target_os = "linux",
            any(target_arch = "x86_64", target_arch = "aarch64"),
            not(any(loom, shuttle))
        )),
        expect(dead_code, reason = "stacks are unwound there only")
    )]
    pub(super) fn new(addresses: Vec<u64>) -> Frames {
        Frames(Arc::new(Named { addresses, frames: OnceLock::new() }))
    }

    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn with_names(addresses: Vec<u64>, frames: Vec<BlockedFrame>) -> Frames {
        Frames(Arc::new(Named { addresses, frames: frames.into() }))
    }

    pub(super) fn is_named(&self) -> bool {
        self.0.frames.get().is_some()
    }

    pub(super) fn named(&self) -> &[BlockedFrame] {
        self.0.frames.get_or_init(|| stack::frames(&self.0.addresses))
    }
}

/// The same addresses.
impl PartialEq for Frames {
    fn eq(&self, other: &Frames) -> bool {
        self.0.addresses == other.0.addresses
    }
}

impl Eq for Frames {}

/// A stack on which threads were seen while they slept in a poll, or computed.
///
/// `Display` writes the place at which the task's own code called what blocks, or computed; with
/// `{:#}` a line per frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedStack {
    pub(super) frames: Frames,
    pub(super) count: u64,
    /// The system call that it ends in, if that was asked for.
    pub(super) call: Option<BlockedCall>,
}

/// A function on a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedFrame {
    /// Its name; of a program without names the file, and the offset in it.
    pub function: Option<String>,
    /// The source file. `None`: the program was built without line numbers (`debug =
    /// "line-tables-only"` in the profile adds them).
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
    /// Whose function it is.
    pub origin: FrameOrigin,
}

/// The code that a function on a stack belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameOrigin {
    /// The program.
    Own,
    /// A crate that the program uses. A program without line numbers counts as one.
    Dependency,
    /// gmp, tokio, the standard library, or a library of the system.
    Runtime,
    /// Not known, because the program has no names.
    Unknown,
}

impl BlockedStack {
    pub(super) fn of(frames: Frames) -> BlockedStack {
        BlockedStack { frames, count: 1, call: None }
    }

    /// The frames from the system call, or from where the thread computed, to the beginning of the
    /// task, the innermost first.
    pub fn frames(&self) -> &[BlockedFrame] {
        self.frames.named()
    }

    /// Whether both end in the same system call.
    pub(super) fn is_in_call_of(&self, other: &BlockedStack) -> bool {
        self.number() == other.number()
    }

    /// The number of the system call that it ends in.
    pub(super) fn number(&self) -> Option<i64> {
        self.call.as_ref().map(|call| call.number)
    }

    /// In how many polls it was seen. Not every poll is looked at.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The line of the program, or of a crate that it uses, that called what blocks.
    pub(super) fn caller(&self) -> Option<&BlockedFrame> {
        self.frames().iter().find(|frame| frame.origin != FrameOrigin::Runtime)
    }

    /// Whose the innermost function is. Threads sleep in those of the runtime and the system.
    fn innermost(&self) -> Option<FrameOrigin> {
        self.frames().first().map(|frame| frame.origin)
    }

    /// The innermost line of the program itself.
    pub(super) fn own(&self) -> Option<&BlockedFrame> {
        self.frames().iter().find(|frame| frame.origin == FrameOrigin::Own)
    }
}

impl fmt::Display for BlockedStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            return self.frames().iter().try_for_each(|frame| writeln!(f, "{frame:#}"));
        }
        match (self.caller(), self.innermost()) {
            // It may be a function in which threads sleep.
            (Some(unknown), Some(FrameOrigin::Unknown)) => write!(f, "{unknown}")?,
            (Some(own), Some(FrameOrigin::Own | FrameOrigin::Dependency)) => write!(f, "computing {own}")?,
            (Some(caller), _) => write!(f, "called {caller}")?,
            (None, _) => f.write_str("called by nobody that is known")?,
        }
        let unknown = self.frames().iter().filter(|frame| frame.origin == FrameOrigin::Unknown);
        unknown.skip(1).take(MOST_UNKNOWN).try_for_each(|frame| write!(f, " < {}", frame.name()))?;
        match self.own().filter(|own| self.caller() != Some(own)) {
            Some(own) => write!(f, ", which was called {own}"),
            None => Ok(()),
        }
    }
}

impl BlockedFrame {
    fn name(&self) -> Escaped<'_> {
        Escaped(self.function.as_deref().unwrap_or("?"))
    }
}

impl fmt::Display for BlockedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = self.name();
        let place = self.file.as_deref().zip(self.line);
        match (place, f.alternate()) {
            (Some((file, line)), false) => write!(f, "at {}:{line}", short(file)),
            (Some((file, line)), true) => write!(f, "{function} at {}:{line}", short(file)),
            (None, false) => write!(f, "in {function}"),
            (None, true) => write!(f, "{function}"),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn frame(function: &str, place: Option<(&str, u32)>, origin: FrameOrigin) -> BlockedFrame {
        let (file, line) = place.map(|(file, line)| (file.to_owned(), line)).unzip();
        BlockedFrame { function: Some(function.to_owned()), file, line, origin }
    }

    fn stack(frames: Vec<BlockedFrame>) -> BlockedStack {
        BlockedStack::of(Frames::with_names(Vec::new(), frames))
    }

    #[test]
    fn the_text_is_the_line_outside_of_the_runtime() {
        let sleep =
            frame("std::thread::sleep", Some(("/rustc/1/library/std/src/thread/mod.rs", 9)), FrameOrigin::Runtime);
        let statement = "/home/a/.cargo/registry/src/index-1/rusqlite-0.31.0/src/statement.rs";
        let step = frame("rusqlite::step", Some((statement, 50)), FrameOrigin::Dependency);
        let report = frame("program::report", Some(("src/main.rs", 7)), FrameOrigin::Own);
        let own = stack(vec![sleep.clone(), report.clone()]);
        assert_eq!(own.to_string(), "called at src/main.rs:7");
        let of_crate = stack(vec![sleep.clone(), step, report]);
        assert_eq!(
            of_crate.to_string(),
            "called at rusqlite-0.31.0/src/statement.rs:50, which was called at src/main.rs:7"
        );
        assert_eq!(stack(vec![sleep]).to_string(), "called by nobody that is known");
        assert_eq!(stack(own.frames()[1..].to_vec()).to_string(), "computing at src/main.rs:7");
        assert_eq!(format!("{own:#}").lines().last(), Some("program::report at src/main.rs:7"));
    }

    #[test]
    fn a_program_without_line_numbers_shows_functions() {
        let sleep = frame("clock_nanosleep", None, FrameOrigin::Runtime);
        let stack = stack(vec![sleep, frame("program::report", None, FrameOrigin::Dependency)]);
        assert_eq!(stack.to_string(), "called in program::report");
    }

    #[test]
    fn a_program_without_names_shows_addresses() {
        let (sleep, here) =
            (frame("nanosleep", None, FrameOrigin::Runtime), frame("program+0x7", None, FrameOrigin::Unknown));
        assert_eq!(stack(vec![sleep, here.clone()]).to_string(), "called in program+0x7");
        assert_eq!(stack(vec![here.clone()]).to_string(), "in program+0x7", "it may compute or sleep");
        let text = stack(vec![here; 20]).to_string();
        assert_eq!(text, "in program+0x7".to_owned() + &" < program+0x7".repeat(MOST_UNKNOWN));
    }
}
