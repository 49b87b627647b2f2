//! What the actors share.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

use tempfile::TempDir;

use crate::kinds::KINDS;

/// One stretch of load, from its start until everything has come to rest.
pub(crate) struct World {
    /// Where the server of TCP connections listens.
    pub(crate) server: SocketAddr,
    /// Removed with everything in it when the world ends.
    directory: TempDir,
    paths: AtomicU64,
    stopping: AtomicBool,
    /// A number for each kind.
    turns: Vec<AtomicU64>,
    failures: Mutex<Vec<String>>,
}

impl World {
    pub(crate) fn new(server: SocketAddr) -> io::Result<Self> {
        Ok(World {
            server,
            directory: TempDir::with_prefix("gmp-soak-")?,
            paths: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            turns: KINDS.iter().map(|_| AtomicU64::new(0)).collect(),
            failures: Mutex::default(),
        })
    }

    /// A path where there is nothing.
    pub(crate) fn new_path(&self) -> PathBuf {
        self.directory.path().join(self.paths.fetch_add(1, Relaxed).to_string())
    }

    /// Asks the actors to end after their turn.
    pub(crate) fn stop(&self) {
        self.stopping.store(true, Relaxed);
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stopping.load(Relaxed)
    }

    /// An actor of kind number `kind` has taken a turn.
    pub(crate) fn count(&self, kind: usize) {
        self.turns[kind].fetch_add(1, Relaxed);
    }

    /// The turns taken, a number a kind.
    pub(crate) fn turns(&self) -> impl Iterator<Item = u64> {
        self.turns.iter().map(|turns| turns.load(Relaxed))
    }

    /// The soak has failed; the load stops.
    pub(crate) fn fail(&self, what: String) {
        self.failures.lock().expect("nobody panics with this lock").push(what);
        self.stop();
    }

    /// What has failed so far.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.failures.lock().expect("nobody panics with this lock").clone()
    }
}
