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

/// How many times a run that takes longer is asked to end. To name its line, the run reads its debugging
/// information, which takes a while.
#[cfg(target_os = "linux")]
const ASKS: usize = 200;
#[cfg(target_os = "linux")]
const PAUSE: Duration = Duration::from_millis(100);

/// Waits for the end of the child, and ends the child after that time. `None`: that was so.
#[cfg(target_os = "linux")]
pub(super) fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
    let end = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let has_ended = |limit: Duration| -> Result<bool> {
        let limit = Timespec::try_from(limit)?;
        Ok(rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&limit)))? > 0)
    };
    let is_in_time = has_ended(limit)?;
    let asks = if is_in_time { 0 } else { ASKS };
    for _ in 0..asks {
        // The engine says where the run spins, and ends it. A program without it is ended by the signal.
        kill_process(Pid::from_child(child), Signal::VTALARM)?;
        if has_ended(PAUSE)? {
            break;
        }
    }
    // Of no use to a process that has ended.
    child.kill()?;
    let status = child.wait()?;
    Ok(is_in_time.then_some(status))
}

#[cfg(not(target_os = "linux"))]
pub(super) fn fix_addresses() -> Result<()> {
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn wait(child: &mut Child, _: Duration) -> Result<Option<ExitStatus>> {
    Ok(Some(child.wait()?))
}
