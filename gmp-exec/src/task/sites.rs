//! The stacks above the futures at which a task waits, and the type of its future, for a dump that asks
//! for them.
//!
//! A waiting task has no stack. A dump that wants the line of the `.await` has the task polled once
//! more, as any waker may, and each future that leaves a note of its wait in that poll takes the
//! stack. Nothing else is different in that poll, unlike in a traced one (feature `taskdump`).
//!
//! | thread that makes the dump | thread that polls the task |
//! |---|---|
//! | A1. writes down that it awaits the task | P1. begins a poll, and reads the header's flag (Acquire) |
//! | A2. sets the flag (AcqRel), under the lock of the shard | P2. marks the note and this thread |
//! | A3. wakes the task, without the lock | P3. gives a stack for each wait |
//! | A4. waits until no task is awaited | P4. the task waits: removes the marks, clears the flag |
//! | | P5. says that the task is no longer awaited |
//!
//! *Claim: a task that is asked and waits again is no longer awaited, or is not polled any more.* The
//! wake-up of A3 comes after A2, so the poll that follows sees the flag, unless P4 of an earlier poll
//! has cleared it. Then P1 of that poll saw the flag, so A1 came before, and its stacks count. P4
//! leaves the flag alone if the flag was set after P1. *If P5 came before P4*, the next dump could set
//! the flag in between, and P4 would clear it. After P5 the task counts as waiting, so the dump, which
//! looks again, sees what the task waits for since this poll. A task that ends in that poll stays
//! awaited, and A4 gives up after a while. A flag that is left costs its task a poll whose stacks no
//! dump gets.
//!
//! A poll without the flag pays nothing: P1 is the look that finds aborted tasks, and P3 is where a
//! poll goes whose note is not empty.
#![cfg_attr(any(loom, shuttle), allow(dead_code, reason = "models ask for no stacks"))]

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::task::{Header, Id, try_id};

/// The addresses of the calls, the innermost first.
pub(crate) type Stack = Vec<u64>;

/// The dump under way.
static DUMP: Mutex<Option<Dump>> = Mutex::new(None);
/// Signalled when a task is no longer awaited.
static CHANGED: Condvar = Condvar::new();

thread_local! {
    /// The task whose waits on this thread take stacks.
    static TAKES: Cell<Option<Id>> = const { Cell::new(None) };
}

struct Dump {
    take: fn() -> Stack,
    awaited: HashSet<Id>,
    given: HashMap<Id, Given>,
}

/// What a task has given.
#[derive(Debug, Default)]
pub(crate) struct Given {
    /// The type of the task's future.
    pub(crate) future: &'static str,
    /// The number of the poll.
    pub(crate) polls: u32,
    pub(crate) stacks: Vec<Stack>,
}

fn dump() -> MutexGuard<'static, Option<Dump>> {
    DUMP.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A dump begins. `take` returns the stack of the thread that calls it. The caller makes sure that
/// there is one dump at a time.
pub(crate) fn begin(take: fn() -> Stack) {
    *dump() = Some(Dump { take, awaited: HashSet::new(), given: HashMap::new() });
}

/// Asks the task for its stacks. The caller has the lock of the task's shard, and wakes the task
/// afterwards.
pub(crate) fn ask(header: &Header) {
    if let Some(dump) = &mut *dump() {
        dump.awaited.insert(header.id); // A1
        header.ask_for_sites(); // A2
    }
}

/// The dump ends when all tasks have given their stacks, or if none has for `limit`.
pub(crate) fn end(limit: Duration) -> HashMap<Id, Given> {
    let mut dump = dump();
    let awaited = |dump: &Option<Dump>| dump.as_ref().map_or(0, |dump| dump.awaited.len());
    while awaited(&dump) > 0 {
        let before = awaited(&dump);
        let (guard, timeout) = CHANGED.wait_timeout(dump, limit).unwrap_or_else(PoisonError::into_inner);
        dump = guard;
        if timeout.timed_out() && awaited(&dump) == before {
            break;
        }
    }
    dump.take().map(|dump| dump.given).unwrap_or_default()
}

/// A poll begins whose waits take stacks. `future`: the type of the task's future.
#[cold]
pub(in crate::task) fn begin_poll(header: &Header, future: fn() -> &'static str) {
    header.progress.note_site();
    TAKES.set(Some(header.id));
    if let Some(dump) = dump().as_mut().filter(|dump| dump.awaited.contains(&header.id)) {
        dump.given
            .insert(header.id, Given { future: future(), polls: header.progress.read().polls, stacks: Vec::new() });
    }
}

/// The poll of the task is over, and the task waits. Does nothing if the poll began before the task
/// was asked.
pub(in crate::task) fn end_poll(header: &Header) {
    if TAKES.get() != Some(header.id) {
        return;
    }
    TAKES.set(None);
    header.progress.wait(); // P4
    header.has_given_sites();
    if let Some(dump) = &mut *dump() {
        dump.awaited.remove(&header.id); // P5
        CHANGED.notify_one();
    }
}

/// A future of the running task has to wait, and the note of the task is not empty.
#[inline]
pub(in crate::task) fn note() {
    if let Some(task) = TAKES.get() {
        take(task);
    }
}

#[cold]
fn take(task: Id) {
    // The poll may have ended without a wait, and this is that of another task.
    if try_id() != Some(task) {
        return TAKES.set(None);
    }
    if let Some(dump) = dump().as_mut().filter(|dump| dump.awaited.contains(&task)) {
        dump.given.entry(task).or_default().stacks.push((dump.take)());
    }
}
