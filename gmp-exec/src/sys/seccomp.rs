//! System call filters (seccomp(2)), which programs install to give up rights after their start.
//!
//! A filter may end the process at a call that its author didn't expect, such as `membarrier`. So a
//! thread that is about to make such a call looks for a filter first, and does without if there is
//! one. A filter that was there before the first runtime is another matter: containers have one,
//! and it has let pass what starting a program and building a runtime takes.
//!
//! There, a second filter is noticed by what comes before it: without privileges, a thread can install
//! one only after `PR_SET_NO_NEW_PRIVS`, and libraries for filters set that for all programs.
//! Rejected: the number of filters in `/proc/self/status`. A descriptor that is opened in time saves
//! the `openat`, but a second look needs `pread64` or `lseek`, which may be what the filter ends the
//! process at, and takes ten times as long as most of the calls that it would guard.
//!
//! The look is `prctl(PR_GET_SECCOMP)`, less than 1 µs. The filter has to allow `prctl`, by which
//! each thread that has a name gets it, also in the standard library and so on tokio. Rejected:
//! `/proc/thread-self/status`. Filters can't tell files apart, so those that end a process at
//! unexpected calls often do so at `openat`.

/// To be called before the first runtime is built.
pub(crate) fn init() {
    let _ = imp::at_start();
}

/// Whether the calling thread has a filter. A kernel that refuses to say is filtering.
pub(crate) fn is_filtered() -> bool {
    imp::is_filtered()
}

/// Whether the calling thread has got a filter since the first runtime was built.
pub(crate) fn has_come() -> bool {
    is_filtered() && imp::at_start().are_fewer()
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
mod imp {
    use std::sync::OnceLock;

    use rustix::io::Errno;
    use rustix::thread::{SecureComputingMode, no_new_privs, secure_computing_mode};

    /// What the first runtime found.
    pub(super) struct AtStart {
        was_filtered: bool,
        had_privileges: bool,
    }

    pub(super) fn at_start() -> &'static AtStart {
        static AT_START: OnceLock<AtStart> = OnceLock::new();
        AT_START.get_or_init(|| AtStart { was_filtered: is_filtered(), had_privileges: !has_no_new_privileges() })
    }

    impl AtStart {
        /// Whether a thread that is filtered has more filters by now.
        pub(super) fn are_fewer(&self) -> bool {
            !self.was_filtered || self.had_privileges && has_no_new_privileges()
        }
    }

    pub(super) fn is_filtered() -> bool {
        // `INVAL`: a kernel without filters.
        !matches!(secure_computing_mode(), Ok(SecureComputingMode::Disabled) | Err(Errno::INVAL))
    }

    fn has_no_new_privileges() -> bool {
        no_new_privs().unwrap_or(false)
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
mod imp {
    pub(super) struct AtStart;

    pub(super) fn at_start() -> AtStart {
        AtStart
    }

    impl AtStart {
        pub(super) fn are_fewer(&self) -> bool {
            false
        }
    }

    pub(super) fn is_filtered() -> bool {
        false
    }
}
