//! What a task consists of: the header, which the scheduler reads, and the future, which the machine
//! that polls the task owns.

#[cfg(not(loom))]
mod blocks;
pub(in crate::task) mod body;
mod further;
pub(in crate::task) mod future;
pub(in crate::task) mod header;
pub(in crate::task) mod home;
pub(in crate::task) mod id;
#[cfg(loom)]
mod loom_progress;
pub(in crate::task) mod moment;
pub(in crate::task) mod progress;
pub(in crate::task) mod waiting;
