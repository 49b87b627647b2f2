//! The children that were dropped while they were running, and the thread that waits for them.
//!
//! The thread has a pipe of its own, because any reactor may empty the pipe of
//! [`signal`](crate::signal). A byte in it says that a child has exited, or that there is a new
//! orphan.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};
use std::{mem, thread};

use gmp_exec::bridge::filter_has_come;
use gmp_exec::task::KeptThread;

use crate::lock::lock;
use crate::signal::install;
use crate::signal::unix::SignalKind;

#[derive(Debug)]
struct Reaper {
    orphans: Mutex<Orphans>,
    /// Non-blocking. Written by the handler of SIGCHLD and by threads that add an orphan.
    sender: UnixStream,
    /// Blocking. Read by the thread.
    receiver: UnixStream,
}

#[derive(Debug, Default)]
struct Orphans {
    /// With the threads that started them.
    waiting: Vec<(Child, KeptThread)>,
    /// Whether the thread is running. It runs as long as there are orphans.
    has_thread: bool,
    /// Whether SIGCHLD writes into the pipe.
    has_handler: bool,
}

static REAPER: OnceLock<Reaper> = OnceLock::new();

/// Makes the reaper, before there is a child that [`adopt`] may need it for. If no thread could be
/// started for earlier orphans, tries again. Without descriptors there is no reaper; nor if a filter of
/// system calls has come, which may not know how a pipe is made.
pub(super) fn prepare() {
    match REAPER.get() {
        Some(reaper) => reaper.ensure_thread(&mut lock(&reaper.orphans)),
        None if filter_has_come() => {}
        None => {
            // If two threads make a reaper at the same time, one of the reapers is dropped.
            let _ = Reaper::new().map(|reaper| REAPER.get_or_init(|| reaper));
        }
    }
}

/// Waits for `child` in the background. The thread that started it is kept until then.
pub(super) fn adopt(child: Child, parent: KeptThread) {
    let Some(reaper) = REAPER.get() else { return wait_alone(child, parent) };
    let mut orphans = lock(&reaper.orphans);
    orphans.waiting.push((child, parent));
    reaper.ensure_handler(&mut orphans);
    reaper.ensure_thread(&mut orphans);
    drop(orphans);
    reaper.notify();
}

/// Without a reaper, each orphan has a thread. If none can be started, the child becomes a zombie.
fn wait_alone(mut child: Child, parent: KeptThread) {
    let thread = thread::Builder::new().name("gmp-reaper".to_owned());
    let _ = thread.spawn(move || {
        let _ = child.wait();
        drop(parent);
    });
}

impl Reaper {
    fn new() -> io::Result<Self> {
        let (sender, receiver) = UnixStream::pair()?;
        sender.set_nonblocking(true)?;
        Ok(Reaper { orphans: Mutex::default(), sender, receiver })
    }

    /// SIGCHLD exists and can be caught, so this succeeds. If it didn't, orphans would be polled
    /// whenever there is a new one.
    fn ensure_handler(&'static self, orphans: &mut Orphans) {
        static UNUSED: AtomicBool = AtomicBool::new(false);
        if !orphans.has_handler {
            orphans.has_handler = install(SignalKind::child().as_raw_value(), &UNUSED, &self.sender).is_ok();
        }
    }

    /// If no thread can be started, the next orphan or child tries again.
    fn ensure_thread(&'static self, orphans: &mut Orphans) {
        if !orphans.has_thread && !orphans.waiting.is_empty() {
            let thread = thread::Builder::new().name("gmp-reaper".to_owned());
            orphans.has_thread = thread.spawn(|| self.run()).is_ok();
        }
    }

    /// If the pipe is full, the thread has enough to read.
    fn notify(&self) {
        let _ = rustix::io::write(&self.sender, &[0]);
    }

    fn run(&self) {
        while self.reap() > 0 {
            // An interrupted call is as good a reason to look as a byte.
            let _ = (&self.receiver).read(&mut [0; 512]);
        }
    }

    /// Polls each orphan, and returns how many are still running. The lock is not held meanwhile,
    /// so that other threads can add orphans.
    fn reap(&self) -> usize {
        let mut asked = mem::take(&mut lock(&self.orphans).waiting);
        asked.retain_mut(|(child, _)| matches!(child.try_wait(), Ok(None)));
        let mut orphans = lock(&self.orphans);
        orphans.waiting.append(&mut asked);
        orphans.has_thread = !orphans.waiting.is_empty();
        orphans.waiting.len()
    }
}
