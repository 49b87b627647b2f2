//! How late the kernel may wake a sleeping thread: 50 µs by default, as good as nothing for a
//! machine.

/// Asks the kernel to wake the calling thread on time. A refusal only makes timers less precise.
pub(crate) fn minimise() {
    #[cfg(target_os = "linux")]
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}
