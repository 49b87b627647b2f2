//! How much of the address space is left to the process, if that is limited (`ulimit -v`).

/// What a new thread may reserve besides its stack. With its first allocation, glibc gives it an
/// arena of its own, if there is space for one (malloc(3), `M_ARENA_MAX`).
pub(crate) const ARENA: u64 =
    if cfg!(all(target_env = "gnu", target_pointer_width = "64")) { 64 << 20 } else { 1 << 20 };

/// `None`: there is no limit, or the system does not say how much is used.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
pub(crate) fn left() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};

    let limit = getrlimit(Resource::As).current?;
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split(' ').next()?.parse().ok()?;
    Some(limit.saturating_sub(pages * rustix::param::page_size() as u64))
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
pub(crate) fn left() -> Option<u64> {
    None
}
