//! What can be said about a file without blocking.

use std::io;

use super::file::Stranger;

/// The answer to a question about a file, if memory holds it. That something went wrong is an answer, too.
pub(crate) type Cached<T> = Result<io::Result<T>, Unknown>;

/// Only a thread that may block finds out. If it was the file system that is not known yet, that thread should introduce
/// it, so that the next question can be answered.
pub(crate) struct Unknown(pub(crate) Option<Stranger>);
