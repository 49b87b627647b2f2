//! Answers about a file that don't block.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::MetadataExt;

use super::file::Unidentified;

/// The answer to a question about a file, if memory holds it. An error is an answer too.
pub(crate) type Cached<T> = Result<io::Result<T>, NotCached>;

/// The answer isn't cached: a thread that may block has to ask. If the reason was that the kind of
/// the file system is not known yet, that thread should identify the file system, so that the next
/// question can be answered.
pub(crate) struct NotCached(pub(crate) Option<Unidentified>);

/// A regular file, under whatever name or descriptor.
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
