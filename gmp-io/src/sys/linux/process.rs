//! pidfds: descriptors for processes, since Linux 5.3.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// An old kernel, or a sandbox that forbids the call, is detected once. A lack of descriptors is
/// temporary.
pub(crate) fn exit_descriptor(pid: u32) -> Option<OwnedFd> {
    static UNKNOWN: AtomicBool = AtomicBool::new(false);
    if UNKNOWN.load(Relaxed) {
        return None;
    }
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) => Some(descriptor),
        Err(error) => {
            UNKNOWN.fetch_or(matches!(error, Errno::NOSYS | Errno::PERM), Relaxed);
            None
        }
    }
}
