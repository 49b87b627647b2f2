//! A program that was killed must not leave processes behind.

/// Makes the kernel kill this process when the thread that started it ends, even if this process is
/// stopped.
#[cfg(target_os = "linux")]
pub(crate) fn end_with_parent() {
    let asked = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    if let Err(error) = asked {
        eprintln!("promise: this process would outlive its parent: {error}");
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn end_with_parent() {}
