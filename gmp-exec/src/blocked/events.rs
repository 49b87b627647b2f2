//! `tracing` events about polls that hold their threads (feature `tracing`).
//!
//! Only the report thread emits them: the lock of a subscriber may be held by the very thread that
//! is stuck. There is no event for each poll, but for those that would print a line
//! (`GMP_BLOCKED=print`): the first of a place, then the 2nd, 4th, 8th, ..., and one a minute.
//! `Handle::blocked_report` documents the fields.

use std::time::{Duration, Instant};

use super::BlockedCause;
use super::frame::BlockedStack;
use super::look::{Call, Look};
use super::record::Begun;
use super::stack;
use crate::contain::contain;
use crate::escaped::short;

/// The events of one pass of the report thread, which emits them when it has let go of its locks.
#[derive(Debug, Default)]
pub(super) struct Events(Vec<Event>);

#[derive(Debug)]
struct Event {
    begun: Begun,
    look: Look,
    duration: Duration,
    /// The number of the poll among those of its place.
    count: u64,
    is_over: bool,
}

impl Events {
    /// A poll is under way and counts.
    pub(super) fn found(&mut self, begun: &Begun, look: &Look, count: u64) {
        let duration = Instant::now().saturating_duration_since(begun.since);
        self.0.push(Event { begun: begun.clone(), look: look.clone(), duration, count, is_over: false });
    }

    /// A poll that counts is over.
    pub(super) fn over(&mut self, begun: &Begun, look: &Look, count: u64, duration: Duration) {
        self.0.push(Event { begun: begun.clone(), look: look.clone(), duration, count, is_over: true });
    }

    /// Calls the subscriber, which is foreign code and may panic.
    pub(super) fn emit(self) {
        for event in self.0 {
            contain(|| event.emit());
        }
    }
}

/// A macro, because the level of an event is a constant of its place in the source.
macro_rules! emit {
    ($level:ident, $event:expr) => {
        if tracing::enabled!(target: "gmp::blocked", tracing::Level::$level) {
            let Event { begun, look, duration, count, is_over } = $event;
            let call = look.call.as_ref();
            tracing::event!(
                target: "gmp::blocked",
                tracing::Level::$level,
                cause = %begun.cause,
                is_over,
                duration_ms = duration.as_millis() as u64,
                count,
                is_root = begun.is_root,
                task.id = begun.task.as_u64(),
                spawn.file = short(begun.location.file()).0,
                spawn.line = begun.location.line(),
                syscall = call.map(name),
                fd = call.and_then(|call| call.call.descriptor),
                fd.target = call.and_then(|call| call.target.as_deref()),
                caller = caller(&look),
                no_stack = look.stack.as_ref().and_then(|stack| stack.as_ref().err()).map(String::as_str),
                "{}", message(begun.cause, is_over)
            )
        }
    };
}

impl Event {
    fn emit(self) {
        match self.begun.cause {
            BlockedCause::Blocked | BlockedCause::Computing => emit!(WARN, self),
            // No fault of the task's.
            BlockedCause::Starved => emit!(DEBUG, self),
        }
    }
}

fn message(cause: BlockedCause, is_over: bool) -> &'static str {
    match (cause, is_over) {
        (BlockedCause::Blocked, false) => "a task blocks its thread",
        (BlockedCause::Blocked, true) => "a task has blocked its thread",
        (BlockedCause::Computing, false) => "a task computes for long",
        (BlockedCause::Computing, true) => "a task has computed for long",
        (BlockedCause::Starved, false) => "a task gets no core",
        (BlockedCause::Starved, true) => "a task got no core",
    }
}

fn name(call: &Call) -> String {
    let number = || format!("system call {}", call.call.number);
    call.call.name().map_or_else(number, str::to_owned)
}

/// The function that has called the one that blocks. Reads the program's debugging information, so
/// only events that a subscriber wants have it.
fn caller(look: &Look) -> Option<String> {
    let frames = look.stack.as_ref()?.as_ref().ok()?;
    let is_new = !frames.is_named();
    let caller = BlockedStack::of(frames.clone()).caller().map(|frame| format!("{frame:#}"));
    if is_new {
        stack::forget_symbols();
    }
    caller
}
