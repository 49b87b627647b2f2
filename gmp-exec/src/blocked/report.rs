//! What the user sees: `Handle::blocked_report`.

use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use super::frame::{BlockedStack, FrameOrigin};
use super::look::Call;
use super::rows::{Row, rows};
use super::stack;
use crate::escaped::Escaped;
use crate::task::{Id, StuckBy};

const NO_LINES: &str = "the program has no line numbers: build it with debug = \"line-tables-only\" in its profile";
const NO_NAMES: &str = "the program was stripped of its names: build it with strip = \"none\" in its profile, or give \
                        the addresses to addr2line -e with the same program before it was stripped";

/// The tasks of a runtime that have held their threads for long, by where they were spawned.
///
/// A poll is reported if its processor was taken, or if it lasted for longer than
/// [`blocking_threshold`](crate::runtime::Builder::blocking_threshold), and in both cases for at
/// least a millisecond. A section that is declared to block
/// ([`block_in_place`](crate::task::block_in_place), [`blocking`](crate::task::blocking),
/// [`spawn_blocking`](crate::task::spawn_blocking)) is not reported.
///
/// `Display` writes a line per entry, and is empty if there is none.
///
/// # Examples
///
/// ```
/// use std::time::{Duration, Instant};
///
/// let runtime = gmp_exec::runtime::Runtime::new().unwrap();
/// let line = line!() + 1;
/// let task = runtime.spawn(async { std::thread::sleep(Duration::from_millis(100)) });
/// runtime.block_on(task).unwrap();
///
/// // A thread of its own writes the report, shortly afterwards.
/// let start = Instant::now();
/// while runtime.handle().blocked_report().entries.is_empty() && start.elapsed().as_secs() < 60 {
///     std::thread::sleep(Duration::from_millis(1));
/// }
/// let report = runtime.handle().blocked_report();
/// assert_eq!(report.entries[0].location.line(), line);
/// print!("{report}");
/// // blocked 1x, 99 ms in all, longest 99 ms: task spawned at src/main.rs:5, in clock_nanosleep
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BlockedReport {
    /// An entry per place and cause, the one that has taken the most time first.
    pub entries: Vec<BlockedEntry>,
    /// Polls that are missing here, because too many were found at the same moment.
    pub dropped: u64,
}

/// The polls of tasks that were spawned at one place, as far as they have held their threads for
/// long.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BlockedEntry {
    /// Where the tasks were spawned. The line that blocks is somewhere below.
    pub location: &'static Location<'static>,
    /// Whether this is the future given to `block_on` of a current-thread runtime, and no spawned
    /// task. `location` is where `block_on` was called then, and `task` an id of its own.
    pub is_root: bool,
    /// What the threads did when it was found.
    pub cause: BlockedCause,
    /// How many polls there were. A poll that first sleeps and later computes counts for both
    /// causes, each with its part of the time.
    pub count: u64,
    /// How many of them are not over yet.
    pub under_way: u64,
    /// How long they took together.
    pub total: Duration,
    /// How long the longest one took.
    pub longest: Duration,
    /// When the last one began.
    pub last: Instant,
    /// The task of the last one.
    pub task: Id,
    /// The name that this task was given by a [`task::Builder`](crate::task::Builder).
    pub name: Option<Box<str>>,
    /// The system calls that threads were seen in. Not every poll is looked at.
    pub calls: Vec<BlockedCall>,
    /// The stacks on which threads were seen while they slept: which line has called the function
    /// that blocks. With `GMP_BLOCKED=signal` those of threads that computed, too. Not every poll
    /// is looked at. Only with the feature `blocked-stacks`, on Linux on x86-64 and arm64.
    pub stacks: Vec<BlockedStack>,
    /// Why a stack could not be taken: for example, what the kernel has refused.
    pub no_stack: Option<String>,
}

/// What a thread that is held for long does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BlockedCause {
    /// It sleeps in the kernel.
    Blocked,
    /// It computes. This is also said of a poll that had only a part of a core until it lost its
    /// processor, as there is nothing more certain to say of it then.
    Computing,
    /// It could compute, but the kernel gave it no core: with one, the poll would not have been
    /// long. The cause is not the task but other threads, of this program or of others.
    Starved,
}

/// A system call that threads were seen in while they slept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockedCall {
    /// The number by which the kernel knows it.
    pub number: i64,
    /// Its name, if it is one of those in which threads are known to sleep.
    pub name: Option<&'static str>,
    /// The descriptor that the last one was about.
    pub descriptor: Option<i32>,
    /// What that descriptor referred to, as in `/proc/self/fd`: a path, or `pipe:[4711]`.
    pub target: Option<String>,
    /// How many polls were seen in it.
    pub count: u64,
}

impl From<StuckBy> for BlockedCause {
    fn from(cause: StuckBy) -> BlockedCause {
        match cause {
            StuckBy::Blocking => BlockedCause::Blocked,
            StuckBy::Computing => BlockedCause::Computing,
        }
    }
}

impl fmt::Display for BlockedReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        rows(&self.entries).iter().try_for_each(|row| writeln!(f, "{row}"))?;
        if self.dropped > 0 {
            writeln!(f, "{} more were found, and not recorded", self.dropped)?;
        }
        self.missing().map_or(Ok(()), |what| writeln!(f, "{what}"))
    }
}

impl BlockedReport {
    /// What the program was built without, if no frame of it has a line.
    fn missing(&self) -> Option<&'static str> {
        let stacks = self.entries.iter().flat_map(|entry| &entry.stacks);
        let frames = stacks.flat_map(BlockedStack::frames).filter(|frame| frame.origin != FrameOrigin::Runtime);
        let mut missing = None;
        for frame in frames {
            missing = match frame.origin {
                _ if frame.file.is_some() => return None,
                FrameOrigin::Unknown => Some(NO_NAMES),
                _ => Some(NO_LINES),
            };
        }
        missing
    }
}

impl fmt::Display for BlockedEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Row::of(self).fmt(f)
    }
}

impl fmt::Display for BlockedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BlockedCause::Blocked => "blocked",
            BlockedCause::Computing => "computed",
            BlockedCause::Starved => "starved",
        })
    }
}

impl BlockedCall {
    /// That of a thread that was seen once.
    pub(super) fn of(call: &Call) -> BlockedCall {
        BlockedCall {
            number: call.call.number,
            name: call.call.name(),
            descriptor: call.call.descriptor,
            target: call.target.clone(),
            count: 1,
        }
    }
}

impl fmt::Display for BlockedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            // Every future has a function of that name.
            Some("poll") => f.write_str("the system call poll")?,
            Some(name) => f.write_str(name)?,
            None => write!(f, "system call {}", self.number)?,
        }
        match (self.descriptor, &self.target) {
            (Some(descriptor), Some(target)) => write!(f, "(fd {descriptor} -> {})", Escaped(target)),
            (Some(descriptor), None) => write!(f, "(fd {descriptor})"),
            (None, _) => Ok(()),
        }
    }
}

/// Finds the names and lines of all stacks. This takes a few hundred milliseconds for a stack that
/// no report has named before, if the program has much debugging information.
pub(super) fn name_stacks(entries: &mut [BlockedEntry]) {
    let is_any_new = entries.iter().flat_map(|entry| &entry.stacks).any(|stack| !stack.frames.is_named());
    for entry in entries {
        let stacks = std::mem::take(&mut entry.stacks);
        entry.stacks = stacks.into_iter().fold(Vec::new(), add_stack);
    }
    if is_any_new {
        stack::forget_symbols();
    }
}

/// Stacks that differ only outside of the task are merged.
fn add_stack(mut stacks: Vec<BlockedStack>, stack: BlockedStack) -> Vec<BlockedStack> {
    match stacks.iter_mut().find(|known| known.is_in_call_of(&stack) && known.frames() == stack.frames()) {
        Some(known) => known.count += stack.count,
        None => stacks.push(stack),
    }
    stacks
}

/// Each line with `gmp: ` before it.
pub(super) fn prefixed(text: &str) -> String {
    text.lines().map(|line| format!("gmp: {line}\n")).collect()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::blocked::frame::{BlockedFrame, Frames};

    fn call(name: Option<&'static str>, descriptor: Option<i32>, target: Option<&str>) -> BlockedCall {
        BlockedCall { number: 321, name, descriptor, target: target.map(str::to_owned), count: 2 }
    }

    fn entry(cause: BlockedCause, calls: Vec<BlockedCall>) -> BlockedEntry {
        BlockedEntry {
            location: Location::caller(),
            is_root: false,
            cause,
            count: 3,
            under_way: 0,
            total: Duration::from_millis(412),
            longest: Duration::from_micros(180_900),
            last: Instant::now(),
            task: Id::next(),
            name: None,
            calls,
            stacks: Vec::new(),
            no_stack: None,
        }
    }

    #[test]
    fn a_line_says_all_that_is_known() {
        let read = call(Some("read"), Some(9), Some("pipe:[7]"));
        let line = entry(BlockedCause::Blocked, vec![read.clone()]).to_string();
        assert!(line.starts_with("blocked 3x, 412 ms in all, longest 180 ms: task spawned at "), "{line}");
        assert!(line.ends_with(", in read(fd 9 -> pipe:[7])"), "{line}");
        let several = vec![read, call(None, None, None), call(Some("fsync"), Some(4), None)];
        let line = entry(BlockedCause::Blocked, several).to_string();
        assert!(line.ends_with(", in read(fd 9 -> pipe:[7]) 2x, system call 321 2x, fsync(fd 4) 2x"), "{line}");
        let mut line = entry(BlockedCause::Blocked, Vec::new());
        line.name = Some("writes the log".into());
        assert!(line.to_string().contains(r#": task "writes the log", spawned at "#), "{line}");
        let mut line = entry(BlockedCause::Starved, Vec::new());
        line.is_root = true;
        let line = line.to_string();
        assert!(line.starts_with("starved 3x, 412 ms in all, longest 180 ms: future of block_on at "), "{line}");
        let mut line = entry(BlockedCause::Computing, Vec::new());
        line.under_way = 2;
        assert!(
            line.to_string().starts_with("computed 3x, 412 ms in all, longest 180 ms, 2 under way: task"),
            "{line}"
        );
    }

    #[test]
    fn a_name_of_a_file_adds_no_line() {
        let target = "/tmp/a\ngmp: blocked 9x\u{1b}[31m";
        let mut entry = entry(BlockedCause::Blocked, vec![call(Some("read"), Some(9), Some(target))]);
        let frame = |function: &str, file: Option<&str>, origin| BlockedFrame {
            function: Some(function.to_owned()),
            file: file.map(str::to_owned),
            line: Some(7),
            origin,
        };
        let frames = [frame("f", Some("a\n.rs"), FrameOrigin::Dependency), frame("g\u{1b}", None, FrameOrigin::Own)];
        entry.stacks = vec![BlockedStack::of(Frames::with_names(Vec::new(), frames.into()))];
        let text = entry.to_string();
        assert!(
            text.contains(r", in read(fd 9 -> /tmp/a\ngmp: blocked 9x\u{1b}[31m), computing at a\n.rs:7"),
            "{text}"
        );
        assert!(text.ends_with(r", which was called in g\u{1b}"), "{text}");
        (entry.stacks, entry.no_stack) = (Vec::new(), Some("beyond a\n+0x7".to_owned()));
        assert!(entry.to_string().ends_with(r", no stack: beyond a\n+0x7"), "{entry}");
    }

    #[test]
    fn stacks_that_differ_outside_of_the_task_are_one() {
        let named = |function: &str, addresses: &[u64], count| {
            let (function, origin) = (Some(function.to_owned()), FrameOrigin::Own);
            let frame = BlockedFrame { function, file: None, line: None, origin };
            BlockedStack { count, ..BlockedStack::of(Frames::with_names(addresses.to_vec(), vec![frame])) }
        };
        let mut entries = [entry(BlockedCause::Blocked, Vec::new())];
        entries[0].stacks = vec![named("a", &[1, 2], 2), named("b", &[3, 2], 1), named("a", &[1, 4], 3)];
        name_stacks(&mut entries);
        let seen = entries[0].stacks.iter().map(|stack| (stack.to_string(), stack.count()));
        assert_eq!(seen.collect::<Vec<_>>(), [("computing in a".to_owned(), 5), ("computing in b".to_owned(), 1)]);
    }

    fn stack(file: Option<&str>, origin: FrameOrigin, addresses: &[u64]) -> BlockedStack {
        let (function, file) = (Some("f".to_owned()), file.map(str::to_owned));
        let frame = BlockedFrame { function, line: file.as_ref().map(|_| 7), file, origin };
        BlockedStack { count: 2, ..BlockedStack::of(Frames::with_names(addresses.to_vec(), vec![frame])) }
    }

    #[test]
    fn a_place_is_named_once() {
        let mut entry = entry(BlockedCause::Computing, Vec::new());
        let [a, b] = ["a.rs", "b.rs"].map(|file| stack(Some(file), FrameOrigin::Own, &[1]));
        entry.stacks = vec![b, a.clone(), a];
        let text = entry.to_string();
        assert!(text.ends_with(", 4x computing at a.rs:7, 2x computing at b.rs:7"), "{text}");
    }

    /// As of two handlers, of which one holds a lock while it works.
    #[test]
    fn each_line_is_told_with_its_system_call() {
        let in_call = |name, file, count| BlockedStack {
            call: Some(BlockedCall { number: i64::from(count as u32), ..call(Some(name), None, None) }),
            count,
            ..stack(Some(file), FrameOrigin::Own, &[count])
        };
        let mut entry = entry(BlockedCause::Blocked, Vec::new());
        entry.stacks = vec![in_call("futex", "b.rs", 4), in_call("clock_nanosleep", "a.rs", 5)];
        entry.calls = vec![BlockedCall { number: 4, ..call(Some("futex"), None, None) }, call(None, None, None)];
        let text = entry.to_string();
        let expected =
            ", in system call 321, 5x in clock_nanosleep, computing at a.rs:7, 4x in futex, computing at b.rs:7";
        assert!(text.ends_with(expected), "{text}");
    }

    /// Thirty routes that call one function, and one more that is also seen elsewhere.
    #[test]
    fn tasks_that_are_seen_at_one_line_have_one_row_wherever_they_were_spawned() {
        let at = |files: &[&str], origin| BlockedEntry {
            stacks: files.iter().map(|file| stack(Some(file), origin, &[1])).collect(),
            ..entry(BlockedCause::Blocked, Vec::new())
        };
        let places = [Location::caller(), at(&[], FrameOrigin::Own).location];
        let own = places.map(|location| BlockedEntry { location, ..at(&["db.rs"], FrameOrigin::Own) });
        let text = |entries: &[&BlockedEntry]| {
            BlockedReport { entries: entries.iter().copied().cloned().collect(), dropped: 0 }.to_string()
        };
        let two = text(&[&own[0], &own[1]]);
        let lines = places.map(|place| format!("{}:{}", place.file(), place.line())).join(", ");
        let expected = format!("task spawned at {lines}, computing at db.rs:7\n");
        assert!(two.starts_with("blocked 6x, 824 ms in all, longest 180 ms: ") && two.ends_with(&expected), "{two}");
        let both = at(&["db.rs", "a.rs"], FrameOrigin::Own);
        assert_eq!(text(&[&own[0], &both, &own[1]]).lines().count(), 2);
        let of_crate = at(&["hyper.rs"], FrameOrigin::Dependency);
        assert_eq!(text(&[&of_crate, &BlockedEntry { location: places[1], ..of_crate.clone() }]).lines().count(), 2);
    }

    #[test]
    fn a_program_that_was_built_without_lines_is_told_so_once() {
        let report = |stacks: Vec<BlockedStack>| {
            let entries = stacks.into_iter().map(|stack| {
                let mut entry = entry(BlockedCause::Blocked, Vec::new());
                entry.stacks = vec![stack];
                entry
            });
            BlockedReport { entries: entries.collect(), dropped: 0 }.to_string()
        };
        let without = || stack(None, FrameOrigin::Dependency, &[1]);
        let text = report(vec![without(), without()]);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.ends_with("debug = \"line-tables-only\" in its profile\n"), "{text}");
        let text = report(vec![without(), stack(Some("a.rs"), FrameOrigin::Own, &[2])]);
        assert_eq!(text.lines().count(), 2, "a library in C has none: {text}");
        assert!(report(vec![stack(None, FrameOrigin::Unknown, &[1])]).contains("strip = \"none\""));
    }

    #[test]
    fn a_moment_of_which_nothing_is_known_is_not_written() {
        let mut tiny = entry(BlockedCause::Blocked, Vec::new());
        tiny.total = Duration::from_millis(2);
        let report = |entry: &BlockedEntry| BlockedReport { entries: vec![entry.clone()], dropped: 0 }.to_string();
        assert_eq!(report(&tiny), "");
        tiny.calls.push(call(Some("poll"), None, None));
        assert!(report(&tiny).ends_with(", in the system call poll\n"), "{}", report(&tiny));
    }

    #[test]
    fn the_text_of_an_empty_report_is_empty() {
        assert_eq!(BlockedReport { entries: Vec::new(), dropped: 0 }.to_string(), "");
        let report = BlockedReport { entries: Vec::new(), dropped: 3 };
        assert_eq!(prefixed(&report.to_string()), "gmp: 3 more were found, and not recorded\n");
    }
}
