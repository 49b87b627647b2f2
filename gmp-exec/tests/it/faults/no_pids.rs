//! The cgroup allows few threads (`pids.max`). Threads for blocked polls and for closures must leave
//! some to the program. Only root can make a cgroup.

use std::path::PathBuf;
use std::process::{self, Command};
use std::{fs, thread};

use crate::support::{Flag, Watchdog, in_children, lines_of_stderr, multi};

/// Without the limit, each of them would get a thread.
#[test]
fn what_blocks_leaves_pids_to_the_program() {
    in_children("faults::no_pids::what_blocks_leaves_pids_to_the_program", 0..2, |case| {
        let Some(_cgroup) = Cgroup::with_pids(40) else { return };
        let runtime = multi(2).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let mut lines = lines_of_stderr();
        let end = Flag::new();
        let tasks = Vec::from_iter((0..100).map(|_| {
            let may_end = end.clone();
            match case {
                0 => runtime.spawn(async move { may_end.wait() }),
                _ => runtime.spawn_blocking(move || may_end.wait()),
            }
        }));
        let line = lines.find(|line| line.starts_with("gmp: OS can't spawn worker thread: ")).unwrap();
        let child = Command::new("true").status();
        let threads = [(); 5].map(|()| thread::Builder::new().spawn(|| ()));
        end.set();
        assert!(child.unwrap().success());
        threads.into_iter().for_each(|thread| thread.unwrap().join().unwrap());
        assert!(line.contains("few threads are left to the cgroup"), "{line}");
        tasks.into_iter().for_each(|task| runtime.block_on(task).unwrap());
    });
}

/// The cgroup that this process is in, until this is dropped.
struct Cgroup {
    before: PathBuf,
    own: PathBuf,
}

impl Cgroup {
    /// `None`: the system has no such cgroups, or doesn't let this process make one.
    fn with_pids(limit: usize) -> Option<Cgroup> {
        ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].into_iter().find_map(|before| {
            let before = PathBuf::from(before);
            let own = before.join(format!("gmp-test-{}", process::id()));
            fs::create_dir(&own).ok()?;
            let cgroup = Cgroup { before, own };
            fs::write(cgroup.own.join("pids.max"), limit.to_string()).ok()?;
            fs::write(cgroup.own.join("cgroup.procs"), "0").ok()?;
            Some(cgroup)
        })
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let _ = fs::write(self.before.join("cgroup.procs"), "0");
        let _ = fs::remove_dir(&self.own);
    }
}
