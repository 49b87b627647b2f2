//! The end of a runtime against those who bring something at that moment: it is cancelled, run or shut down, by one of the
//! two.
//!
//! Closures are shuttle's business (`shuttle_blocking`): their threads let go of the scheduler at the end, by an `Arc` that
//! loom can't see.

use super::explore;
use super::stage::{busy, config, scheduler, task};
use crate::netpoll::Netpoll;
use crate::runtime::Handle;
use crate::runtime::config::{Config, Flavor};
use crate::sched::machine::Machine;
use crate::sched::roster::Roster;
use crate::sched::{Anchor, Scheduler};
use crate::sync::Arc;
use loom::thread;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// Counts its drops.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Tasks are woken while the global queue is open, closing, closed: each is cancelled once, and none stays behind.
#[test]
fn loom_shutdown_cancels_what_is_pushed_meanwhile() {
    explore(6, || {
        let scheduler = scheduler(1);
        // Nobody comes for what is queued.
        let _holds_the_processor = busy(&scheduler);
        let dropped = Arc::new(AtomicUsize::new(0));
        let pusher = thread::spawn({
            let (scheduler, dropped) = (scheduler.clone(), dropped.clone());
            move || {
                for _ in 0..2 {
                    let future = Dropped(dropped.clone());
                    scheduler.submit_global([task(&scheduler, move || unreachable!("{:p}", &future))]);
                }
            }
        });
        scheduler.shutdown();
        pusher.join().unwrap();
        assert_eq!(dropped.load(Relaxed), 2);
    });
}

#[derive(Clone, Default)]
struct Probe(Arc<AtomicUsize>);

impl Netpoll for Probe {
    fn poll(&self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn wake(&self) {}

    fn shutdown(&self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A netpoll is installed at the last moment: it is shut down all the same.
#[test]
fn loom_shutdown_finds_a_netpoll_installed_meanwhile() {
    explore(6, || {
        let scheduler = Scheduler::new(Config { enable_io: true, ..config(1, Flavor::MultiThread) });
        let _holds_the_processor = busy(&scheduler);
        let probe = Probe::default();
        let installer = thread::spawn({
            let (handle, probe) = (Handle::of(Anchor::new(scheduler.clone())), probe.clone());
            move || drop(handle.netpoll(|| Ok(probe)).unwrap())
        });
        scheduler.shutdown();
        installer.join().unwrap();
        assert!(probe.0.load(Relaxed) > 0);
    });
}

/// The last machine begins something that may never end, while somebody is about to wait for all machines to leave.
#[test]
fn loom_shutdown_does_not_wait_for_an_excused_machine() {
    explore(6, || {
        let roster = Roster::new();
        let machine = Machine::new(0);
        let ticket = roster.enter(machine.clone());
        let excused = thread::spawn({
            let roster = roster.clone();
            move || roster.excuse(&machine)
        });
        roster.wait_empty(None);
        // Only now does what it began come to an end.
        drop(excused.join().unwrap());
        drop(ticket);
    });
}
