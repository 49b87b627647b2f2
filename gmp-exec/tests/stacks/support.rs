//! A runtime, and waiting for what its report says, with a deadline.

use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{BlockedEntry, BlockedFrame, BlockedStack, Builder, FrameOrigin, Handle, Runtime};

/// Longer than anything takes.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).build().unwrap()
}

/// The entry of tasks that were spawned at this line, as soon as a stack was looked for; or what is
/// known of them when that has taken too long. It does not panic: the thread must be let go first.
pub(crate) fn entry(handle: &Handle, line: u32) -> Option<BlockedEntry> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let report = handle.blocked_report();
        let is_complete = |entry: &BlockedEntry| !entry.stacks.is_empty() || entry.no_stack.is_some();
        let mut entries = report.entries.into_iter().filter(|entry| entry.location.line() == line).collect::<Vec<_>>();
        // On a busy computer the thread may have an entry as starved before the other one.
        entries.sort_by_key(|entry| !is_complete(entry));
        let entry = entries.into_iter().next();
        if entry.as_ref().is_some_and(is_complete) || Instant::now() > deadline {
            return entry;
        }
        thread::yield_now();
    }
}

/// The frame that has called what blocks.
pub(crate) fn caller(stack: &BlockedStack) -> &BlockedFrame {
    let is_own = |frame: &&BlockedFrame| frame.origin == FrameOrigin::Own;
    stack.frames().iter().find(is_own).unwrap_or_else(|| panic!("{stack:#}"))
}
