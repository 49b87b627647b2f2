//! How often the kernel has switched away from a process's threads.
//!
//! A thread that ends takes its count with it, so the difference of two sums may be too small or
//! even negative. Here each thread has its own difference.

use std::collections::BTreeMap;
use std::{fs, io};

use super::list;

/// The switches of each thread of a process at one moment, by thread id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Switches(BTreeMap<u32, u64>);

impl Switches {
    /// Counts the threads that process `pid`, or this one, has now.
    pub fn of(pid: Option<u32>) -> io::Result<Self> {
        Ok(Switches(list(pid, "task")?.filter_map(|thread| of_thread(&thread.ok()?)).collect()))
    }

    /// Counts the threads of this process without the calling one.
    pub fn of_others() -> io::Result<Self> {
        let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        let mut all = Switches::of(None)?;
        all.0.remove(&own);
        Ok(all)
    }

    /// The number of switches since `before`. For a thread that has ended since, the switches after
    /// `before` are unknown and not counted; for a new thread, all of them are.
    pub fn since(&self, before: &Switches) -> u64 {
        self.0.iter().map(|(thread, &now)| since(now, before.0.get(thread).copied())).sum()
    }
}

/// A count that has become smaller belongs to a new thread with an old thread's id.
fn since(now: u64, before: Option<u64>) -> u64 {
    now.checked_sub(before.unwrap_or(0)).unwrap_or(now)
}

fn of_thread(thread: &fs::DirEntry) -> Option<(u32, u64)> {
    let id = thread.file_name().to_str()?.parse().ok()?;
    // A thread may end between the listing and the read.
    Some((id, switches(&fs::read_to_string(thread.path().join("status")).ok()?)))
}

fn switches(status: &str) -> u64 {
    let values = status.lines().filter_map(|line| line.split_once("ctxt_switches:"));
    values.filter_map(|(_, value)| value.trim().parse::<u64>().ok()).sum()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    fn of<const N: usize>(threads: [(u32, u64); N]) -> Switches {
        Switches(threads.into())
    }

    #[test]
    fn switches_are_those_it_asked_for_and_those_it_did_not() {
        let status = "Threads:\t3\nvoluntary_ctxt_switches:\t40\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!(switches(status), 42);
        assert!(Switches::of(None).unwrap().since(&Switches::default()) > 0);
    }

    #[test]
    fn a_thread_that_has_ended_takes_nothing_away_and_a_new_one_counts_from_nothing_even_under_an_old_id() {
        assert_eq!(of([(1, 12)]).since(&of([(1, 10), (2, 1000)])), 2);
        assert_eq!(of([(1, 10), (2, 5)]).since(&of([(1, 10)])), 5);
        assert_eq!(of([(1, 10), (2, 5)]).since(&of([(1, 10), (2, 1000)])), 5);
    }

    #[test]
    fn a_thread_that_is_woken_is_switched_to_and_from() {
        let (ball, balls) = mpsc::channel::<()>();
        let (back, caught) = mpsc::channel();
        let thread = thread::spawn(move || {
            for ball in balls {
                back.send(ball).unwrap();
            }
        });
        let before = Switches::of_others().unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        while Switches::of_others().unwrap().since(&before) < 10 {
            ball.send(()).unwrap();
            caught.recv().unwrap();
            assert!(Instant::now() < deadline, "no switch was counted");
        }
        drop(ball);
        thread.join().unwrap();
    }
}
