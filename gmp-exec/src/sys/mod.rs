//! The parts of the operating system that the executor needs. Each file chooses its platform in one
//! place.

pub(crate) mod address_space;
#[cfg(all(feature = "seeded", target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
pub(crate) mod addresses;
pub(crate) mod affinity;
pub(crate) mod cgroup;
#[cfg(feature = "insight")]
pub(crate) mod cycles;
pub(crate) mod environment;
pub(crate) mod errno;
#[cfg(test)]
pub(crate) mod fake_root;
pub(crate) mod membarrier;
pub(crate) mod peer;
pub(crate) mod seccomp;
pub(crate) mod sigaction;
pub(crate) mod sigurg;
pub(crate) mod stderr;
pub(crate) mod system_call;
pub(crate) mod thread_clock;
pub(crate) mod thread_state;
pub(crate) mod time_slice;
pub(crate) mod timer_slack;
