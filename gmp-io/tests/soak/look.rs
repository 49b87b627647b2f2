//! What the process holds, seen from outside, and what of it may not grow.

use std::time::{Duration, Instant};
use std::{fmt, fs, io, thread};

use gmp_exec::runtime::Runtime;
use rustix::io::Errno;
use rustix::process::{WaitId, WaitIdOptions, waitid};

/// Memory may be so much more at the end than at the first stop: the allocator keeps an arena for
/// each thread and cuts them to pieces differently every time. A leak of 100 bytes a turn is
/// several times that after ten minutes.
pub(crate) const MARGIN: u64 = 16 << 20;

/// At rest is what has been the same for so long. Spare threads stay for [`KEEP_ALIVE`].
const REST: Duration = Duration::from_secs(3);

/// How long a spare thread of the runtime stays: so short that threads come and go all the time.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// Rest is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A look at the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) descriptors: usize,
    pub(crate) threads: usize,
    pub(crate) tasks: usize,
    /// Bytes of RSS.
    pub(crate) memory: u64,
}

impl Look {
    pub(crate) fn now(runtime: &Runtime) -> io::Result<Self> {
        Ok(Look {
            // The directory that is being read is among them.
            descriptors: fs::read_dir("/proc/self/fd")?.count() - 1,
            threads: threads()?,
            tasks: runtime.metrics().num_alive_tasks(),
            memory: resident()?,
        })
    }

    /// Waits until nothing changes any more, memory aside, or it is clear that it won't.
    pub(crate) fn at_rest(runtime: &Runtime) -> io::Result<Self> {
        let start = Instant::now();
        let (mut last, mut since) = (Look::now(runtime)?, start);
        while since.elapsed() < REST && start.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(100));
            let look = Look::now(runtime)?;
            if look.counts() != last.counts() {
                since = Instant::now();
            }
            last = look;
        }
        Ok(last)
    }

    fn counts(&self) -> (usize, usize, usize) {
        (self.descriptors, self.threads, self.tasks)
    }

    /// What has grown since `first`, in words.
    pub(crate) fn growth(&self, first: &Look) -> Vec<String> {
        let counts = [
            ("descriptors", first.descriptors, self.descriptors),
            ("threads", first.threads, self.threads),
            ("tasks", first.tasks, self.tasks),
        ];
        let grown = counts.into_iter().filter(|(_, before, now)| now > before);
        let mut words: Vec<_> =
            grown.map(|(what, before, now)| format!("{what}: {before} at the first stop, {now} at the end")).collect();
        if self.memory > first.memory + MARGIN {
            words.push(format!(
                "memory: {} at the first stop, {} at the end, more than the margin of {}",
                MiB(first.memory),
                MiB(self.memory),
                MiB(MARGIN)
            ));
        }
        words
    }
}

impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Look { descriptors, threads, tasks, memory } = self;
        write!(
            f,
            "{descriptors:>5} descriptors {threads:>4} threads {tasks:>5} tasks  RSS {:>10}",
            MiB(*memory).to_string()
        )
    }
}

/// The threads of this process.
pub(crate) fn threads() -> io::Result<usize> {
    fs::read_dir("/proc/self/task").map(Iterator::count)
}

/// The bytes of memory that this process occupies, counted page by page.
fn resident() -> io::Result<u64> {
    let rollup = fs::read_to_string("/proc/self/smaps_rollup")?;
    let kib =
        rollup.lines().find_map(|line| line.strip_prefix("Rss:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("`smaps_rollup` doesn't say how much is resident"))
}

struct MiB(u64);

impl fmt::Display for MiB {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} MiB", self.0 as f64 / f64::from(1 << 20))
    }
}

/// Says so if a child process is left, dead or alive.
pub(crate) fn children() -> io::Result<Option<&'static str>> {
    match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT) {
        Err(Errno::CHILD) => Ok(None),
        Ok(Some(_)) => Ok(Some("a child process has ended and nobody has waited for it")),
        Ok(None) => Ok(Some("a child process is still running")),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Look = Look { descriptors: 10, threads: 5, tasks: 0, memory: 20 << 20 };

    #[test]
    fn one_descriptor_more_is_growth() {
        let last = Look { descriptors: 11, ..FIRST };
        assert_eq!(last.growth(&FIRST), ["descriptors: 10 at the first stop, 11 at the end"]);
    }

    #[test]
    fn memory_may_grow_by_the_margin() {
        let grown = |more| Look { memory: FIRST.memory + more, ..FIRST }.growth(&FIRST);
        assert!(grown(MARGIN).is_empty());
        let words = "memory: 20.0 MiB at the first stop, 36.0 MiB at the end, more than the margin of 16.0 MiB";
        assert_eq!(grown(MARGIN + 1), [words]);
    }

    #[test]
    fn less_is_no_growth() {
        assert!(Look { descriptors: 9, threads: 4, tasks: 0, memory: 0 }.growth(&FIRST).is_empty());
    }
}
