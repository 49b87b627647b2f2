//! An asymmetric fence: free on the side that runs all the time, expensive on the side that runs
//! rarely.
//!
//! In the ownership protocol (sched/README.md §3) each side writes its own word and then reads the
//! other side's. The machine's side runs at every poll and every wake: a fence there costs 5 ns per
//! entry (measured). So where the kernel offers `membarrier(PRIVATE_EXPEDITED)` the machine uses a
//! compiler fence only ([`light`]), and the taker makes every running thread of the process execute
//! a fence ([`heavy`], 15 µs with another thread running). Elsewhere, and under the model checkers,
//! both sides use a SeqCst fence.
//!
//! A process must register with the kernel first. If the process has a second thread by then, the
//! kernel waits for an RCU grace period: 5 to 30 ms on two idle cores, 150 under load. With one
//! thread there is nothing to wait for. So a program registers before its `main`, in 5 µs, whether
//! it will make a runtime or not. A shared library that contains gmp registers while it is loaded.
//! If the process has several threads by then, it takes longer to load the library.
//!
//! Rejected: a thread that registers, and runtimes that use SeqCst fences until then. A process
//! can't end while one of its threads waits for a grace period. So a process that lives for 2 ms,
//! as many a test does, would live for 8 to 24.
#![allow(unsafe_code, reason = "places a function among those that run before `main`")]

#[cfg(any(loom, shuttle, not(target_os = "linux")))]
mod imp {
    use crate::sync::atomic::Ordering::SeqCst;
    use crate::sync::atomic::fence;

    pub(crate) fn init() {}

    #[inline]
    pub(crate) fn light() {
        fence(SeqCst);
    }

    pub(crate) fn heavy() -> std::io::Result<()> {
        fence(SeqCst);
        Ok(())
    }
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod imp {
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering::*;
    use std::sync::atomic::{AtomicBool, compiler_fence, fence};

    use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

    use crate::sys::{environment, seccomp};

    /// Whether [`heavy`] reaches every thread. Set once, before any machine starts.
    static ASYMMETRIC: AtomicBool = AtomicBool::new(false);

    // SAFETY: the section is for pointers to functions that the loader calls once, and that ignore
    // its arguments. `register` is such a function. It makes a system call and nothing else, so it
    // needs none of what std sets up before `main`.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static BEFORE_MAIN: extern "C" fn() = {
        extern "C" fn before_main() {
            // `init` finds out whether this has failed.
            let _ = register();
        }
        before_main
    };

    /// Takes long if the process has more than one thread and has not registered yet.
    pub(super) fn register() -> rustix::io::Result<()> {
        membarrier(MembarrierCommand::RegisterPrivateExpedited)
    }

    /// Finds out which fences to use. Must be called before a machine starts: both sides must use
    /// the same kind of fence.
    pub(crate) fn init() {
        static ONCE: OnceLock<()> = OnceLock::new();
        ONCE.get_or_init(|| {
            let offered = membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED);
            // Registers now if the linker has left out what was to run before `main`.
            let registered = offered && register().is_ok();
            let forbidden = environment::var_os("GMP_NO_MEMBARRIER").is_some();
            ASYMMETRIC.store(registered && !forbidden, SeqCst);
        });
    }

    #[inline]
    pub(crate) fn light() {
        if ASYMMETRIC.load(Relaxed) {
            compiler_fence(SeqCst);
        } else {
            fence(SeqCst);
        }
    }

    /// Fails if the kernel has not reached the other threads. The caller then knows nothing about
    /// their state and must not take anything from them.
    pub(crate) fn heavy() -> std::io::Result<()> {
        fence(SeqCst);
        if ASYMMETRIC.load(Relaxed) {
            if seccomp::has_come() {
                return Err(std::io::ErrorKind::PermissionDenied.into());
            }
            membarrier(MembarrierCommand::PrivateExpedited)?;
        }
        Ok(())
    }
}

pub(crate) use imp::{heavy, init, light};
