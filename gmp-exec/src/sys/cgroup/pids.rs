//! How many threads and processes the process's cgroups allow (`pids.max`).

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::{Mounts, read};

/// What one cgroup allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pids {
    pub(crate) limit: u64,
    pub(crate) used: u64,
}

/// Of each cgroup of the process, and of those above it, that limits the number. Which these are is
/// found out once: most of the time goes into that.
pub(crate) fn pids() -> impl Iterator<Item = Pids> {
    static LIMITED: LazyLock<Vec<PathBuf>> = LazyLock::new(|| {
        let is_model = cfg!(any(loom, shuttle));
        if is_model { Vec::new() } else { limited(Path::new("/")) }
    });
    LIMITED.iter().filter_map(|directory| pids_of(directory))
}

fn limited(root: &Path) -> Vec<PathBuf> {
    let levels = Mounts::new("pids").levels(root).into_iter().map(|(_, directory)| directory);
    levels.filter(|directory| pids_of(directory).is_some()).collect()
}

/// The files have the same names in both versions. "No limit" is written as `max`.
fn pids_of(directory: &Path) -> Option<Pids> {
    let number = |name: &str| read(&directory.join(name))?.trim_end().parse().ok();
    Some(Pids { limit: number("pids.max")?, used: number("pids.current")? })
}

#[cfg(test)]
mod tests {
    use super::{Pids, limited, pids_of};
    use crate::sys::fake_root::FakeRoot;

    const MOUNTS: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
                          34 28 0:29 / /sys/fs/pids rw - cgroup cgroup rw,pids\n\
                          35 28 0:30 / /sys/fs/cpu rw - cgroup cgroup rw,cpu\n";

    #[test]
    fn each_limit_on_the_path_counts_in_both_versions() {
        for (mount, cgroups) in [("sys/fs/cgroup", "0::/pod/app\n"), ("sys/fs/pids", "8:pids:/pod/app\n3:cpu:/pod\n")] {
            let tree = FakeRoot::new()
                .file("proc/self/cgroup", cgroups)
                .file("proc/self/mountinfo", MOUNTS)
                .file(&format!("{mount}/pod/app/pids.max"), "20\n")
                .file(&format!("{mount}/pod/app/pids.current"), "7\n")
                .file(&format!("{mount}/pod/pids.max"), "max\n")
                .file(&format!("{mount}/pod/pids.current"), "9\n")
                .file(&format!("{mount}/pids.max"), "100\n")
                .file(&format!("{mount}/pids.current"), "90\n")
                .file(&format!("{mount}/other/pids.max"), "1\n")
                .file(&format!("{mount}/other/pids.current"), "1\n");
            let found = Vec::from_iter(limited(tree.path()).iter().map(|directory| pids_of(directory).unwrap()));
            assert_eq!(found, [Pids { limit: 20, used: 7 }, Pids { limit: 100, used: 90 }], "{mount}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_limit() {
        let tree = |max, current| {
            FakeRoot::new()
                .file("proc/self/cgroup", "0::/app\n")
                .file("proc/self/mountinfo", MOUNTS)
                .file("sys/fs/cgroup/app/pids.max", max)
                .file("sys/fs/cgroup/app/pids.current", current)
        };
        assert_eq!(limited(tree("20\n", "7\n").path()).len(), 1);
        for (max, current) in [("max\n", "7\n"), ("", "7\n"), ("20\n", ""), ("-1\n", "7\n"), ("20\n", "many\n")] {
            assert!(limited(tree(max, current).path()).is_empty(), "{max:?} {current:?}");
        }
        assert!(limited(FakeRoot::new().path()).is_empty());
    }
}
