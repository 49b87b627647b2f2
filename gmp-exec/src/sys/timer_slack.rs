//! The timer slack: how late the kernel may wake a sleeping thread. 50 µs by default; machines set
//! it to 1 ns.

/// Asks the kernel to wake the calling thread on time. If the kernel refuses, or a filter has come,
/// timers are only less precise.
pub(crate) fn minimise() {
    #[cfg(target_os = "linux")]
    if !crate::sys::seccomp::has_come() {
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    }
}
