//! Leaving a part of a limited address space to the program.
//!
//! Without a machine beyond the number of processors, a blocked poll keeps its processor, as on
//! tokio. Without memory the process is aborted. So such a machine's thread is not started if little
//! would be left of the address space, nor is the thread that reports what blocks. A thread takes
//! much more than its stack, and takes it when it first allocates (`ARENA`), so threads that have not
//! begun yet count.

use std::io;

use crate::sched::scheduler::Scheduler;
use crate::sys::address_space::{self, ARENA};

/// The standard library's stack size.
const USUAL_STACK: usize = 2 << 20;
/// What is left to the program, without the arena that another thread of the process may take.
const RESERVE: u64 = 32 << 20;

impl Scheduler {
    /// For the thread of a machine that `idle` has counted.
    ///
    /// # Errors
    ///
    /// Fails if the machine is one beyond the number of processors, and there is no head-room.
    pub(in crate::sched) fn check_room_for_machine(&self) -> io::Result<()> {
        let is_extra = self.idle.snapshot().machines > self.idle.active();
        if is_extra { self.check_head_room() } else { Ok(()) }
    }

    /// For a thread that is about to be started.
    ///
    /// # Errors
    ///
    /// Fails if the process could then run out of memory.
    pub(crate) fn check_head_room(&self) -> io::Result<()> {
        match address_space::left() {
            Some(left) if left < self.threads_take().saturating_add(ARENA + RESERVE) => {
                Err(io::Error::new(io::ErrorKind::OutOfMemory, "little is left of the address space"))
            }
            _ => Ok(()),
        }
    }

    /// What this thread, and those that have not begun yet, may take of the address space.
    fn threads_take(&self) -> u64 {
        let mut threads = 1;
        self.all_machines.for_each(|machine| threads += u64::from(machine.std_thread_id().is_none()));
        let stack = self.config.threads.stack_size.unwrap_or(USUAL_STACK) as u64;
        stack.saturating_add(ARENA).saturating_mul(threads)
    }
}
