//! Traces of tasks: the stack of calls above each future at which a task waits (feature
//! `taskdump`).
//!
//! A waiting task has no stack. To see its calls, it is polled once more in a *traced* poll. Each
//! leaf future of gmp and tokio then hands its stack to a callback, and returns `Pending` without
//! doing anything else. Its waker is woken after the poll, so that the next poll goes on as if
//! there had been no traced poll.
//!
//! | file | what |
//! |---|---|
//! | `leaf` | the callback of this thread, and the point at which a leaf calls it |
//! | `deferred` | the wakers of the leaves, which are woken after the poll |
//! | `root` | the function at which stacks end |
//! | `backtrace` | stacks, frames and their names |
//! | `trace` | the stacks of one poll |
//! | `tree` | their text |
//! | `asked` | the dumps that wait for traces of tasks |
//!
//! # How a dump gets a trace
//!
//! | thread that makes the dump | thread that polls the task |
//! |---|---|
//! | A1. writes down that it awaits the task | P1. takes the flag before it polls (AcqRel) |
//! | A2. sets the header's flag (AcqRel), under the lock of the shard | P2. polls with a callback |
//! | A3. wakes the task, without the lock | P3. gives the trace to all dumps that await the task |
//! | A4. waits for the traces | |
//!
//! *Claim: a task that is asked is traced, or ends, or is not polled any more.* The wake-up of A3
//! comes after A2, so the poll that follows sees the flag, unless an earlier poll has taken the
//! flag. Then that poll gives its trace to the dump, because A1 comes before A2, and A2 before P1.
//! In the other order, A2 before A1, a poll could take the flag and find no dump.
//!
//! A task leaves the registry under the lock of its shard. A dump that had the lock earlier has set
//! the flag by then, so the thread that ends the task sees the flag and tells the dumps. A dump
//! that gets the lock later no longer finds the task. A dump that gives up leaves flags behind.
//! Each of them costs its task one traced poll, whose trace no dump gets.

mod asked;
mod backtrace;
mod deferred;
mod leaf;
mod root;
mod trace;
mod tree;

pub(crate) use asked::{Asked, Found};
pub(super) use asked::{ended, poll_traced};
pub use backtrace::{Backtrace, BacktraceFrame, BacktraceSymbol};
pub use leaf::{TraceMeta, trace_with};
pub(crate) use leaf::{is_tracing, leaf};
pub use root::Root;
pub(super) use root::poll_root;
pub(crate) use root::rooted;
pub use trace::Trace;
