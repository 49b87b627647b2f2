//! The little of the operating system that the executor asks for itself.

pub(crate) mod affinity;
pub(crate) mod cgroup;
