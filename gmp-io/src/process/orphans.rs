//! The children that were dropped while they were running, and the thread that waits for them.
//!
//! It has a pipe of its own, since the one of [`signal`](crate::signal) may be emptied by any reactor. A byte in it says that
//! a child has exited, or that there is a new one to ask for.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, OnceLock};
use std::{mem, thread};

use gmp_exec::task::KeptThread;

use crate::lock::lock;
use crate::signal::install;
use crate::signal::unix::SignalKind;

#[derive(Debug)]
struct Reaper {
    orphans: Mutex<Orphans>,
    /// Non-blocking; written by the handler of SIGCHLD, and by those who bring an orphan.
    bell: UnixStream,
    /// Blocking; read by the thread.
    ear: UnixStream,
}

#[derive(Debug, Default)]
struct Orphans {
    /// With the threads that have started them.
    waiting: Vec<(Child, KeptThread)>,
    /// Whether the thread is there: it is as long as there are orphans.
    has_thread: bool,
    /// Whether SIGCHLD writes into the pipe.
    has_handler: bool,
}

static REAPER: OnceLock<Reaper> = OnceLock::new();

/// Makes what [`adopt`] needs, so that it never fails for want of descriptors; and if there was no thread to be had for the
/// last orphan, tries again.
///
/// # Errors
///
/// There are none left now.
pub(super) fn prepare() -> io::Result<()> {
    match REAPER.get() {
        Some(reaper) => reaper.ensure_thread(&mut lock(&reaper.orphans)),
        None => {
            // Of two who come at the same time, one has made it in vain.
            let reaper = Reaper::new()?;
            REAPER.get_or_init(|| reaper);
        }
    }
    Ok(())
}

/// Waits for `child` in the background. The thread that has started it is kept meanwhile.
pub(super) fn adopt(child: Child, parent: KeptThread) {
    let reaper = REAPER.get().expect("it was prepared before the child was started");
    let mut orphans = lock(&reaper.orphans);
    orphans.waiting.push((child, parent));
    reaper.ensure_handler(&mut orphans);
    reaper.ensure_thread(&mut orphans);
    drop(orphans);
    reaper.ring();
}

impl Reaper {
    fn new() -> io::Result<Self> {
        let (bell, ear) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        Ok(Reaper { orphans: Mutex::default(), bell, ear })
    }

    /// The signal exists and can be caught, so this succeeds. If it didn't, orphans would be asked for when there is a new
    /// one.
    fn ensure_handler(&'static self, orphans: &mut Orphans) {
        static UNUSED: AtomicBool = AtomicBool::new(false);
        if !orphans.has_handler {
            orphans.has_handler = install(SignalKind::child().as_raw_value(), &UNUSED, &self.bell).is_ok();
        }
    }

    /// Where no thread can be started, the next orphan or child tries again.
    fn ensure_thread(&'static self, orphans: &mut Orphans) {
        if !orphans.has_thread && !orphans.waiting.is_empty() {
            let thread = thread::Builder::new().name("gmp-reaper".to_owned());
            orphans.has_thread = thread.spawn(|| self.run()).is_ok();
        }
    }

    /// If the pipe is full, the thread has enough to read.
    fn ring(&self) {
        let _ = rustix::io::write(&self.bell, &[0]);
    }

    fn run(&self) {
        while self.reap() {
            // An interrupted call is as good a reason to look as any.
            let _ = (&self.ear).read(&mut [0; 512]);
        }
    }

    /// Asks after each orphan; whether there are any left. The lock is not held meanwhile: those who bring new ones need not
    /// wait.
    fn reap(&self) -> bool {
        let mut asked = mem::take(&mut lock(&self.orphans).waiting);
        asked.retain_mut(|(child, _)| matches!(child.try_wait(), Ok(None)));
        let mut orphans = lock(&self.orphans);
        orphans.waiting.append(&mut asked);
        orphans.has_thread = !orphans.waiting.is_empty();
        orphans.has_thread
    }
}
