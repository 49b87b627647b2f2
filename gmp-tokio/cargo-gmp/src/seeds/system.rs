//! What only Linux has, where seeded runs are.

use std::process::{Child, ExitStatus};
use std::time::Duration;

use anyhow::Result;

/// Programs that this process starts from now on are loaded to the same addresses each time.
#[cfg(target_os = "linux")]
pub(super) fn fix_addresses() -> Result<()> {
    use nix::sys::personality::{self, Persona};
    personality::set(personality::get()? | Persona::ADDR_NO_RANDOMIZE)?;
    Ok(())
}

/// Waits for the end of the child, and ends the child after that time. `None`: that was so.
#[cfg(target_os = "linux")]
pub(super) fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let limit = Timespec::try_from(limit)?;
    let ended = rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&limit)))?;
    if ended == 0 {
        child.kill()?;
    }
    let status = child.wait()?;
    Ok((ended > 0).then_some(status))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn fix_addresses() -> Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn wait(child: &mut Child, _: Duration) -> Result<Option<ExitStatus>> {
    Ok(Some(child.wait()?))
}
