//! Writing to standard error without waiting: for its reader, or for the lock of
//! [`std::io::stderr`], which a thread that is stuck may hold.

use std::io;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::PIPE_BUF;

/// Writes the text, or as much of it as fits.
pub(crate) fn try_write(text: &str) {
    let stderr = io::stderr();
    for part in text.as_bytes().chunks(PIPE_BUF) {
        let mut writable = [PollFd::new(&stderr, PollFlags::OUT)];
        let has_room = poll(&mut writable, Some(&Timespec::default())).is_ok_and(|ready| ready == 1);
        if !has_room || rustix::io::write(&stderr, part).is_err() {
            return;
        }
    }
}
