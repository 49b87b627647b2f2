//! Leaving a part of a limited address space to the program, and of a limited number of threads.
//!
//! Without a machine beyond the number of processors, a blocked poll keeps its processor, as on
//! tokio. Without memory the process is aborted, and without pids it can start no other process. So
//! such a machine's thread is not started if little would be left, nor is the thread that reports
//! what blocks, nor one for a closure that another thread can run later. A thread takes much more than
//! its stack, and takes it when it first allocates (`ARENA`), so threads that have not begun yet
//! count. A pid is taken at once.
//!
//! Threads that look at the same moment may find the same room, as a thread counts only once its start
//! has begun. sysmon alone starts machines, so that takes callers of `spawn_blocking`. Of 64 processes
//! with eight such threads, and little space, none ran out of memory: a thread that finds no space for an
//! arena uses that of another thread. So there is no lock around the look and the start.
//!
//! Rejected: `RLIMIT_NPROC`. It counts all threads of the user, and the kernel tells their number
//! only to those that read all of /proc.

use std::io;

use crate::sched::scheduler::Scheduler;
use crate::sys::address_space::{self, ARENA};
use crate::sys::cgroup::pids::{Pids, pids};
use crate::sys::seccomp;

/// The standard library's stack size.
const USUAL_STACK: usize = 2 << 20;
/// What is left to the program, without the arena that another thread of the process may take.
const RESERVE: u64 = 32 << 20;
/// The part of a cgroup's pids that is left to the program. What the program will start is not known,
/// but the limit was chosen with it in mind.
const RESERVED_PIDS: u64 = 4;

/// For a thread that is about to be started.
///
/// # Errors
///
/// Fails if the process could then run out of memory or of pids. Once a filter has come, nothing
/// is looked at.
pub(crate) fn check_head_room(scheduler: &Scheduler) -> io::Result<()> {
    if seccomp::has_come() {
        return Ok(());
    }
    if address_space::left().is_some_and(|left| left < threads_take(scheduler).saturating_add(ARENA + RESERVE)) {
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, "little is left of the address space"));
    }
    if pids().any(|Pids { limit, used }| limit.saturating_sub(used) <= limit / RESERVED_PIDS) {
        return Err(io::Error::other("few threads are left to the cgroup"));
    }
    Ok(())
}

/// What this thread, and those that have not begun yet, may take of the address space.
fn threads_take(scheduler: &Scheduler) -> u64 {
    let mut threads = 1;
    scheduler.all_machines.for_each(|machine| threads += u64::from(machine.std_thread_id().is_none()));
    let stack = scheduler.config.threads.stack_size.unwrap_or(USUAL_STACK) as u64;
    stack.saturating_add(ARENA).saturating_mul(threads)
}
