//! How many Ps a runtime gets when its builder sets no number, at the start and later
//! (`sched::follow`).
//!
//! Too few Ps leave cores idle. Too many are worse where the kernel enforces a CPU quota: all Ps
//! use up the quota at the same time, and then all of them stand still until the next period. So
//! the number of Ps is the smallest of the limits that the process really has: the CPUs of its
//! affinity mask, and the CPU quota of its cgroup and of every cgroup above it.
//!
//! * A quota of 2.5 CPUs gives 3 Ps: rounding down would leave a part of the quota unused. A quota
//!   below one CPU gives 1 P. Go gives 2 in that case to keep its garbage collector going, which is
//!   no concern here.
//! * CPU *shares* (weights, Kubernetes' "requests") are not a limit and are ignored.
//! * `GMP_MAXPROCS` overrides all limits, and so does tokio's `TOKIO_WORKER_THREADS` where that is not
//!   set. A value that is not a valid number of Ps is an error. If it were ignored, the user who set
//!   the variable would not notice that it has no effect.

use std::io;
use std::path::Path;

use crate::sys::{affinity, cgroup, environment};

/// Override the number of Ps of runtimes that don't set `worker_threads`, the first before the second.
const VARIABLES: [&str; 2] = ["GMP_MAXPROCS", "TOKIO_WORKER_THREADS"];

/// The most Ps a runtime may have: the limit for the variable, and on a computer with more CPUs.
pub(crate) const MAX_PROCS: usize = 1024;

/// The number of Ps that the process can keep busy now: 1 to [`MAX_PROCS`].
///
/// Affinity and quota can change while the process runs, so each call asks the system again (a few
/// small files).
pub(crate) fn available() -> usize {
    available_below(Path::new("/"))
}

/// The same with another directory in place of `/`.
fn available_below(root: &Path) -> usize {
    let quota = cgroup::cpu_limit(root).unwrap_or(MAX_PROCS);
    affinity::cpus().min(quota).clamp(1, MAX_PROCS)
}

/// The value of `GMP_MAXPROCS`, or of `TOKIO_WORKER_THREADS`; `None` if neither is set.
///
/// # Errors
///
/// One of them is set to something other than a whole number from 1 to [`MAX_PROCS`].
pub(crate) fn from_env() -> io::Result<Option<usize>> {
    let [own, of_tokio] = VARIABLES.map(|name| environment::parsed(name, |text| parse(name, text)));
    Ok(own?.or(of_tokio?))
}

fn parse(variable: &str, text: &str) -> Result<usize, String> {
    let procs = text.parse().ok().filter(|procs| (1..=MAX_PROCS).contains(procs));
    procs.ok_or_else(|| {
        format!("the environment variable {variable} is {text:?}, but must be a whole number from 1 to {MAX_PROCS}")
    })
}

#[cfg(test)]
mod tests {
    use std::{env, fs};

    use super::*;

    #[test]
    fn whole_numbers_in_range_are_taken() {
        for (text, procs) in [("1", 1), ("16", 16), ("1024", 1024)] {
            assert_eq!(parse("GMP_MAXPROCS", text), Ok(procs));
        }
    }

    #[test]
    fn anything_else_is_an_error_naming_variable_value_and_range() {
        for text in ["", "0", "1025", "-1", "2.5", " 4", "4 ", "four", "0x4", "99999999999999999999"] {
            for name in VARIABLES {
                let message =
                    format!("the environment variable {name} is {text:?}, but must be a whole number from 1 to 1024");
                assert_eq!(parse(name, text), Err(message));
            }
        }
    }

    #[test]
    fn available_is_at_least_one_and_at_most_the_affinity_mask() {
        assert!((1..=affinity::cpus()).contains(&available()));
    }

    /// Both versions, at the cgroup of the process and at one above it.
    #[test]
    fn a_quota_that_changes_is_seen_by_the_next_call() {
        const MOUNTS: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n\
                              34 28 0:29 / /sys/fs/cpu rw - cgroup cgroup rw,cpu\n";
        let root = env::temp_dir().join(format!("gmp-procs-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("proc/self/mountinfo", MOUNTS);
        write("proc/self/cgroup", "3:cpu:/pod/app\n0::/pod/app\n");
        let all = affinity::cpus();
        assert_eq!(available_below(&root), all);
        for path in ["sys/fs/cgroup/pod/app/cpu.max", "sys/fs/cgroup/pod/cpu.max"] {
            for (quota, expected) in [("50000", 1), ("100000", 1), ("150000", 2.min(all)), ("max", all)] {
                write(path, &format!("{quota} 100000\n"));
                assert_eq!(available_below(&root), expected, "{path}: {quota}");
            }
        }
        write("sys/fs/cpu/pod/cpu.cfs_period_us", "100000\n");
        for (quota, expected) in [("100000", 1), ("-1", all)] {
            write("sys/fs/cpu/pod/cpu.cfs_quota_us", quota);
            assert_eq!(available_below(&root), expected, "version 1: {quota}");
        }
        fs::remove_dir_all(&root).unwrap();
    }
}
