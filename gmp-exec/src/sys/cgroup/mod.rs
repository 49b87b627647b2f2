//! The CPU quota of the process, and how often it was used up, read from Linux control groups; and
//! how many threads these allow (`pids`).
//!
//! A quota applies to all cgroups below it, so the effective quota is the smallest one on the path
//! from the process's own cgroup up to the root of the mount. Reading the leaf alone (as Go does)
//! misses a limit that is set on the pod or the slice.
//!
//! There are two versions, and a system may run both side by side ("hybrid"). In version 1 each
//! controller has its own hierarchy; version 2 has one hierarchy for all controllers. The kernel
//! attaches a controller to one hierarchy at a time, so the code reads both: the hierarchy without the
//! controller has no files to read.
//!
//! Two files tell where the quotas are. `/proc/self/cgroup` names the process's cgroup in each
//! hierarchy, and `/proc/self/mountinfo` says where each hierarchy is mounted *and which part of
//! it*: in a container the mount often shows only the container's own subtree, whose name must then
//! be taken off the front of the cgroup's path.
//!
//! A file that can't be read or parsed counts as no limit: a runtime must start on any system.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

pub(crate) mod pids;
#[cfg(test)]
mod tests;

/// The number of CPUs that the process's cgroups allow it to use, rounded up; `None` if they set no
/// limit.
///
/// `root` is the directory that stands for `/`.
pub(crate) fn cpu_limit(root: &Path) -> Option<usize> {
    levels(root).iter().filter_map(|(version, directory)| version.cpus(directory)).min()
}

/// How often the kernel has stopped the process's cgroups because their quota was used up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Throttling {
    /// In how many periods.
    pub(crate) periods: u64,
    /// For how long, summed over the CPUs.
    pub(crate) time: Duration,
}

/// The throttling of the process's cgroups since they exist.
pub(crate) fn throttling() -> Throttling {
    throttling_below(Path::new("/"))
}

fn throttling_below(root: &Path) -> Throttling {
    let of_levels = levels(root);
    let each = of_levels.iter().map(|(version, directory)| version.throttling(directory));
    each.fold(Throttling::default(), |sum, level| Throttling {
        periods: sum.periods + level.periods,
        time: sum.time + level.time,
    })
}

/// The directories of the process's cgroups and of all above them, in both versions.
fn levels(root: &Path) -> Vec<(Version, PathBuf)> {
    static OF_COMPUTER: Mounts = Mounts::new("cpu");
    if root == Path::new("/") { OF_COMPUTER.levels(root) } else { Mounts::new("cpu").levels(root) }
}

/// Where the hierarchies are mounted that may hold the controller. The list of all mounts may be
/// long, so it is read only until the process's cgroups have been found in it, and again if the
/// kept mount no longer shows them.
struct Mounts {
    controller: &'static str,
    one: OnceLock<Mount>,
    two: OnceLock<Mount>,
}

impl Mounts {
    const fn new(controller: &'static str) -> Mounts {
        Mounts { controller, one: OnceLock::new(), two: OnceLock::new() }
    }

    fn levels(&self, root: &Path) -> Vec<(Version, PathBuf)> {
        let Some(cgroups) = read(&root.join("proc/self/cgroup")) else { return Vec::new() };
        let of_version = |(version, kept): (Version, &OnceLock<Mount>)| {
            let levels = version.levels(self.controller, root, kept, &cgroups).unwrap_or_default();
            levels.into_iter().map(move |directory| (version, directory))
        };
        [(Version::One, &self.one), (Version::Two, &self.two)].into_iter().flat_map(of_version).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// The directories from the process's own cgroup up to the root of the mount.
    fn levels(self, controller: &str, root: &Path, kept: &OnceLock<Mount>, cgroups: &str) -> Option<Vec<PathBuf>> {
        let cgroup = self.path_of_process(controller, cgroups)?;
        match kept.get().and_then(|mount| mount.levels(root, cgroup)) {
            Some(levels) => Some(levels),
            None => {
                let mount = self.find_mount(controller, root, cgroup)?;
                let levels = mount.levels(root, cgroup);
                let _ = kept.set(mount);
                levels
            }
        }
    }

    /// The first mount of the hierarchy that shows `cgroup`.
    fn find_mount(self, controller: &str, root: &Path, cgroup: &Path) -> Option<Mount> {
        let mounts = read(&root.join("proc/self/mountinfo"))?;
        let mut ours = mounts.lines().filter_map(|line| self.parse_mount(controller, line));
        ours.find(|mount| mount.inner(cgroup).is_some())
    }

    /// The path of the process's cgroup in the hierarchy that may hold the controller, from
    /// `/proc/self/cgroup`.
    ///
    /// A line is `id:controllers:path`. The line of version 2 has id 0 and no controllers.
    fn path_of_process<'a>(self, controller: &str, cgroups: &'a str) -> Option<&'a Path> {
        cgroups.lines().find_map(|line| {
            let mut fields = line.splitn(3, ':');
            let (id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
            let ours = match self {
                Version::One => lists(controllers, controller),
                Version::Two => id == "0" && controllers.is_empty(),
            };
            ours.then_some(Path::new(path))
        })
    }

    /// Reads a line of `/proc/self/mountinfo`; `None` if it isn't a mount of the hierarchy that may
    /// hold the controller.
    ///
    /// A line is `id parent device root point options [tags...] - type source super-options`.
    fn parse_mount(self, controller: &str, line: &str) -> Option<Mount> {
        let (of_mount, of_filesystem) = line.split_once(" - ")?;
        let mut of_mount = of_mount.split(' ').skip(3);
        let (root, point) = (of_mount.next()?, of_mount.next()?);
        let mut of_filesystem = of_filesystem.split(' ');
        let (kind, _source, options) = (of_filesystem.next()?, of_filesystem.next()?, of_filesystem.next()?);
        let ours = match self {
            Version::One => kind == "cgroup" && lists(options, controller),
            Version::Two => kind == "cgroup2",
        };
        ours.then(|| Mount { root: unescape(root), point: unescape(point) })
    }

    /// The limit that one cgroup sets, in CPUs, rounded up. The files contain a quota of CPU time
    /// and the period of the quota, in microseconds.
    fn cpus(self, directory: &Path) -> Option<usize> {
        let (quota, period) = match self {
            Version::One => (read(&directory.join("cpu.cfs_quota_us"))?, read(&directory.join("cpu.cfs_period_us"))?),
            Version::Two => {
                let line = read(&directory.join("cpu.max"))?;
                let (quota, period) = line.trim_end().split_once(' ')?;
                (quota.to_owned(), period.to_owned())
            }
        };
        round_up(&quota, &period)
    }

    /// The throttling of one cgroup. The lines of `cpu.stat` are a name and a number; the time is
    /// in nanoseconds in version 1 and in microseconds in version 2.
    fn throttling(self, directory: &Path) -> Throttling {
        let stat = read(&directory.join("cpu.stat")).unwrap_or_default();
        let number = |name: &str| {
            let value = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            value.and_then(|value| value.trim_end().parse().ok()).unwrap_or(0)
        };
        let time = match self {
            Version::One => Duration::from_nanos(number("throttled_time")),
            Version::Two => Duration::from_micros(number("throttled_usec")),
        };
        Throttling { periods: number("nr_throttled"), time }
    }
}

/// "No limit" is written as `max` in version 2 and as `-1` in version 1; neither is an unsigned
/// number.
fn round_up(quota: &str, period: &str) -> Option<usize> {
    let quota = quota.trim_end().parse::<u64>().ok()?;
    let period = period.trim_end().parse::<u64>().ok().filter(|&period| period > 0)?;
    usize::try_from(quota.div_ceil(period).max(1)).ok()
}

/// Whether `controller` is in a list such as `rw,cpu,cpuacct`.
fn lists(list: &str, controller: &str) -> bool {
    list.split(',').any(|item| item == controller)
}

/// A mounted hierarchy, or the part of it below `root`.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The cgroup that is seen at the mount point.
    root: PathBuf,
    point: PathBuf,
}

impl Mount {
    /// The directories of `cgroup` and of all above it, up to the mount point; `None` if it isn't
    /// visible there.
    fn levels(&self, root: &Path, cgroup: &Path) -> Option<Vec<PathBuf>> {
        let mounted_at = below(root, &self.point)?;
        Some(self.inner(cgroup)?.ancestors().map(|ancestor| mounted_at.join(ancestor)).collect())
    }

    /// Where `cgroup` is, relative to the mount point; `None` if it isn't visible there.
    ///
    /// In a cgroup namespace both paths may begin with `/..`, for the cgroups above the namespace.
    /// A `..` that remains points out of the mount.
    fn inner<'a>(&self, cgroup: &'a Path) -> Option<&'a Path> {
        let inner = cgroup.strip_prefix(&self.root).ok()?;
        inner.components().all(|component| matches!(component, Component::Normal(_))).then_some(inner)
    }
}

/// Undoes the kernel's escapes: a backslash and the three octal digits of a byte, for white space
/// and backslashes.
fn unescape(field: &str) -> PathBuf {
    let mut pieces = field.split('\\');
    let mut path = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) if byte.is_ascii() => {
                path.push(char::from(byte));
                path.push_str(&piece[3..]);
            }
            _ => {
                path.push('\\');
                path.push_str(piece);
            }
        }
    }
    path.into()
}

/// `path`, which is absolute, in the tree that begins at `root`.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    Some(root.join(path.strip_prefix("/").ok()?))
}

/// The text of a file. Another mount point in the list may have any bytes in its name, which must
/// not hide the mounts that matter.
fn read(path: &Path) -> Option<String> {
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}
