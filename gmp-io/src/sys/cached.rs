//! What can be said about a file without blocking.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::file::Stranger;

/// The answer to a question about a file, if memory holds it. That something went wrong is an answer, too.
pub(crate) type Cached<T> = Result<io::Result<T>, Unknown>;

/// Only a thread that may block finds out. If it was the file system that is not known yet, that thread should introduce
/// it, so that the next question can be answered.
pub(crate) struct Unknown(pub(crate) Option<Stranger>);

/// A regular file, whatever names and descriptors lead to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl Identity {
    pub(crate) fn of(metadata: &Metadata) -> Option<Identity> {
        metadata.is_file().then(|| Identity { device: metadata.dev(), inode: metadata.ino() })
    }
}
