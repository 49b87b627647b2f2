//! System call filters (seccomp(2)), which programs install to give up rights after their start.
//!
//! A filter may end the process at a call that its author didn't expect, such as `membarrier`. So a
//! thread that is about to make such a call looks for a filter first, and does without if there is
//! one. A filter that was there before the first runtime is another matter: containers have one,
//! and it has let pass what starting a program and building a runtime takes.
//!
//! The look is `prctl(PR_GET_SECCOMP)`, less than 1 µs. The filter has to allow `prctl`, by which
//! each thread that has a name gets it, also in the standard library and so on tokio. Rejected:
//! `/proc/thread-self/status`. Filters can't tell files apart, so those that end a process at
//! unexpected calls often do so at `openat`.

/// To be called before the first runtime is built.
pub(crate) fn init() {
    let _ = imp::was_filtered_at_start();
}

/// Whether the calling thread has a filter. A kernel that refuses to say is filtering.
pub(crate) fn is_filtered() -> bool {
    imp::is_filtered()
}

/// Whether the calling thread has got a filter since the first runtime was built.
pub(crate) fn has_come() -> bool {
    !imp::was_filtered_at_start() && is_filtered()
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod imp {
    use std::sync::OnceLock;

    use rustix::io::Errno;
    use rustix::thread::{SecureComputingMode, secure_computing_mode};

    pub(super) fn was_filtered_at_start() -> bool {
        static AT_START: OnceLock<bool> = OnceLock::new();
        *AT_START.get_or_init(is_filtered)
    }

    pub(super) fn is_filtered() -> bool {
        // `INVAL`: a kernel without filters.
        !matches!(secure_computing_mode(), Ok(SecureComputingMode::Disabled) | Err(Errno::INVAL))
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
mod imp {
    pub(super) fn was_filtered_at_start() -> bool {
        false
    }

    pub(super) fn is_filtered() -> bool {
        false
    }
}
