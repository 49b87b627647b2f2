//! What was recorded of a runtime, and the names of what events refer to by number.

use std::fmt;

use super::event::Timed;

/// What was recorded of a runtime until some moment, or in a part of the time.
#[derive(Debug)]
pub struct Snapshot<'a> {
    /// What events refer to by number.
    pub names: &'a dyn Names,
    /// The events of each thread.
    pub rings: Vec<Ring>,
    /// How many processors the runtime has.
    pub processors: usize,
    /// The runtime's name.
    pub name: Option<&'a str>,
    /// Live tasks when the snapshot was taken.
    pub tasks: usize,
    /// In nanoseconds since the recording has started.
    pub taken_at: u64,
    /// Tells recordings apart: when this one has started, in nanoseconds of Unix time.
    pub recording: u64,
    /// Events of threads whose rings are not kept any more.
    pub gone: Gone,
}

/// Events that are missing, and of no ring that is there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gone {
    /// How many.
    pub events: u64,
    /// They came before this moment.
    pub until: u64,
}

/// The events of one thread, or of all threads that have no ring of their own.
#[derive(Debug)]
pub struct Ring {
    /// Whose events these are.
    pub source: Source,
    /// The events, in the order of time.
    pub events: Vec<Timed>,
    /// Earlier events are missing: how many, as far as no part before has said.
    pub missing: Option<u64>,
    /// More events may come.
    pub has_writer: bool,
}

/// Whose events a ring has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// This machine's.
    Machine(usize),
    /// Those of a thread that waits in `block_on` of a multi-thread runtime. Such threads are
    /// numbered.
    BlockOn(usize),
    /// Those of a thread that runs blocking closures. Such threads are numbered.
    Closures(usize),
    /// Those of all other threads.
    Others,
}

/// What events refer to by number. 0 is the number of nothing.
pub trait Names: fmt::Debug {
    /// Where a task was spawned, or where `block_on` was called.
    fn place(&self, number: u16) -> Option<Place>;

    /// The name of a mark.
    fn mark(&self, number: u16) -> Option<&'static str>;

    /// What was seen of a thread. This may take long.
    fn sight(&self, number: u16) -> Option<Sight>;
}

/// A place in the source code.
#[derive(Clone, Debug)]
pub struct Place {
    /// The file, as the compiler names it.
    pub file: &'static str,
    /// The line.
    pub line: u32,
    /// The place in words, as reports name it.
    pub title: String,
}

/// What was seen of a thread that sleeps, or that a signal has interrupted, in words.
#[derive(Clone, Debug)]
pub struct Sight {
    /// The system call in which it sleeps.
    pub call: Option<String>,
    /// The line of the program that has called what blocks, or that computes.
    pub caller: Option<String>,
    /// The frames of its stack, the innermost first.
    pub frames: Vec<String>,
}
