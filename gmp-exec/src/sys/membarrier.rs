//! An asymmetric fence: free on the side that runs all the time, expensive on the side that runs
//! rarely.
//!
//! In the ownership protocol (sched/README.md §3) each side writes its own word and then reads the
//! other side's. The machine's side runs at every poll and every wake: a fence there costs 5 ns per
//! entry (measured). So where the kernel offers `membarrier(PRIVATE_EXPEDITED)` the machine uses a
//! compiler fence only ([`light`]), and the taker makes every running thread of the process execute
//! a fence ([`heavy`], 15 µs with another thread running). Elsewhere, and under the model checkers,
//! both sides use a SeqCst fence.

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

    /// Whether [`heavy`] reaches every thread. Set once, before any machine starts.
    static ASYMMETRIC: AtomicBool = AtomicBool::new(false);

    /// Registers the process with the kernel. Must be called before a machine starts: both sides
    /// must use the same kind of fence.
    pub(crate) fn init() {
        static ONCE: OnceLock<()> = OnceLock::new();
        ONCE.get_or_init(|| {
            let offered = membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED);
            let registered = offered && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok();
            let forbidden = std::env::var_os("GMP_NO_MEMBARRIER").is_some();
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
            membarrier(MembarrierCommand::PrivateExpedited)?;
        }
        Ok(())
    }
}

pub(crate) use imp::{heavy, init, light};
