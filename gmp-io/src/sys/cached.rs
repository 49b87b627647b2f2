//! What can be said about a file without blocking.

use std::io;

use super::file::Stranger;

/// The answer to a question about a file, if memory holds it.
#[allow(dead_code, reason = "the portable files know nothing")]
pub(crate) enum Cached<T> {
    /// This is the answer; an error is one too.
    Known(io::Result<T>),
    /// Only a thread that may block finds out. If it was the file system that is not known yet, that thread should
    /// introduce it, so that the next question can be answered.
    Unknown(Option<Stranger>),
}

impl<T> Cached<T> {
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Cached<U> {
        match self {
            Cached::Known(answer) => Cached::Known(answer.map(f)),
            Cached::Unknown(stranger) => Cached::Unknown(stranger),
        }
    }
}

/// What came of reading without blocking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the portable files can't read so")]
pub(crate) enum CachedRead {
    /// So many bytes; 0 is the end of the file.
    Bytes(usize),
    /// Not now: the data has to be fetched first, or the kernel has something to say that only a read that may block
    /// reports.
    WouldBlock,
    /// Never: this kind of file can't be read so.
    Unsupported,
}
