//! There are no descriptors for processes.

use std::os::fd::OwnedFd;

pub(crate) fn exit_descriptor(_pid: u32) -> Option<OwnedFd> {
    None
}
