//! Files and directories.
//!
//! A file is always "ready", so no reactor can tell when reading it would wait for a disk, and any operation may. Sending
//! them all to other threads, as tokio does, costs a hundred times what most of them take, because most of what programs ask
//! for is in memory.
//!
//! The rule: **what the kernel can answer from memory is answered at once; all else goes to a closure that may block**,
//! while the task waits and `timeout` and `select!` work. What is known to be impossible, for the kernel or for a file
//! system, is not tried again.
//!
//! | answered from memory where possible | always in a closure |
//! |---|---|
//! | [`read`], [`read_to_string`], [`metadata`], [`symlink_metadata`], [`try_exists`] | whatever changes the file system or walks through it |
//! | opening a regular file for reading | opening in any other way, and anything that is not a regular file |
//! | reading a [`File`], moving its cursor to a known place | writing a [`File`]; reading one that shares its cursor |
//!
//! From memory means: on Linux since 5.12, on file systems of this machine. A closure that has begun can't be called back.
//! One that opens or reads, and so may wait for ever for the other end of a FIFO, is left behind when the runtime ends.
//!
//! A write that a [`File`] has accepted and not made yet is waited for by whatever is asked about
//! that file next, see `accepted.rs`; on tokio it is not, but mostly made by then.
//!
//! Rejected: asking `mincore` or counting on speed, both a guess; io_uring, which needs a reactor of its own kind, and is
//! forbidden in many containers.
//!
//! All functions need a current runtime, with or without I/O enabled.

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
