//! Files and directories.
//!
//! A file is always "ready", so no reactor can tell whether reading it would wait for a disk, and
//! any operation may. Sending all operations to other threads, as tokio does, costs a hundred times
//! what most of them take, because most files that programs ask for are cached.
//!
//! The rule: **questions that the kernel can answer from memory are answered at once; all else runs
//! in the background, in a closure that may block**, while the task waits and `timeout` and
//! `select!` work. Attempts that the kernel or a file system does not support are not repeated.
//!
//! | answered from memory where possible | always in the background |
//! |---|---|
//! | [`read()`], [`read_to_string`], [`metadata()`], [`try_exists`] and others | changing the file system |
//! | opening a regular file for reading | opening in any other way, or another kind of file |
//! | reading a [`File`], seeking in it | writing a [`File`]; reading one that shares its cursor |
//!
//! For a moment after [`read()`] has read a regular file, it opens the same path without finding
//! out first where it leads to. If the path was redirected meanwhile, that is noticed afterwards.
//!
//! This works on Linux since 5.12, on local file systems. A closure that has begun can't be
//! cancelled. A closure that opens or reads may wait without limit for the other end of a FIFO, so
//! it is left behind when the runtime ends.
//!
//! Operations on a file wait for writes that a [`File`] has accepted and not carried out yet, see
//! `pending_writes.rs`. On tokio they don't, but the writes are usually carried out by then.
//!
//! Rejected: asking `mincore` or relying on speed, which are guesses; and io_uring, which needs a
//! reactor of its own and is forbidden in many containers.
//!
//! All functions need a current runtime, whether or not its I/O is enabled.

mod background;
mod dir_builder;
mod file;
mod file_times;
mod inline;
mod metadata;
mod open_options;
mod pending_writes;
mod plain;
mod read;
mod read_dir;

pub use dir_builder::DirBuilder;
pub use file::File;
pub use file_times::FileTimes;
pub use metadata::{metadata, symlink_metadata, try_exists};
pub use open_options::OpenOptions;
pub use plain::{
    canonicalize, copy, create_dir, create_dir_all, hard_link, read_link, remove_dir, remove_dir_all, remove_file,
    rename, set_permissions, symlink, write,
};
pub use read::{read, read_to_string};
pub use read_dir::{DirEntry, ReadDir, read_dir};
