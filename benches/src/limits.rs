//! The number of descriptors that this process may have.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of descriptors for this process, and for the processes that it starts, to the
/// hard limit.
pub fn allow_descriptors(needed: u64) -> io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    if let Some(hard) = maximum.filter(|&hard| hard < needed) {
        let message = format!("{needed} descriptors are needed, but the hard limit (`ulimit -Hn`) is {hard}");
        return Err(io::Error::other(message));
    }
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}
