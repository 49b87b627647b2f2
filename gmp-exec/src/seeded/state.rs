//! What the threads of a seeded run share. Only the thread that has the turn touches this.
#![allow(unsafe_code, reason = "the thread that has the turn borrows what all share")]

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::*;

use super::decisions::{Decisions, Next};
use super::network::Network;
use super::settings::Settings;
use super::threads::Thread;
use crate::sync::Arc;

pub(super) struct State {
    pub(super) settings: Arc<Settings>,
    pub(super) decisions: Decisions,
    /// All threads, by their numbers.
    pub(super) threads: Vec<Thread>,
    /// The numbers of those that have not ended, in the order in which they had the turn last.
    pub(super) live: Vec<usize>,
    /// How often a thread could have lost its turn.
    pub(super) pauses: u64,
    /// How often the thread that has the turn could have lost it, and has kept it.
    pub(super) kept: u32,
    /// The next allocation at which a thread is interrupted.
    pub(super) allocation: Next,
    /// The same of basic blocks.
    pub(super) block: Next,
    /// The next moment at which time passes.
    pub(super) moment: Next,
    /// Nanoseconds since the start of the process.
    pub(super) now: u64,
    /// The last moment at which a thread that polls began to wait.
    pub(super) last_polled: u64,
    pub(super) network: Network,
    /// Calls that let the outside in.
    pub(super) outside: Vec<String>,
    /// Whether it has connected to other computers.
    pub(super) has_peers: bool,
    pub(super) has_had_children: bool,
}

impl State {
    /// A call lets the outside in. The text goes into the report as it is.
    pub(super) fn note_outside(&mut self, call: &str) {
        let is_plain = |c: char| !c.is_control() && c != '"' && c != '\\';
        let call: String = call.chars().map(|c| if is_plain(c) { c } else { '?' }).collect();
        if self.outside.len() < MOST_OUTSIDE && !self.outside.contains(&call) {
            self.decisions.event("outside", self.outside.len() as u64);
            self.outside.push(call);
        }
    }
}

/// So many calls are named.
const MOST_OUTSIDE: usize = 20;

/// Whether this process is a seeded run.
pub(super) static IS_ON: AtomicBool = AtomicBool::new(false);
/// Whether the thread that has the turn is inside [`with`].
static IS_INSIDE: AtomicBool = AtomicBool::new(false);
static SHARED: Shared = Shared(UnsafeCell::new(None));

struct Shared(UnsafeCell<Option<State>>);

// SAFETY: only the thread that has the turn touches the state, and passing the turn on synchronizes
// (`turn::pass`).
unsafe impl Sync for Shared {}

thread_local! {
    /// The number of this thread.
    static OWN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Makes this the first thread of a seeded run. The process has no other thread yet.
pub(super) fn begin(state: State) {
    // SAFETY: `IS_ON` is not set, so no other function has touched the state.
    unsafe { *SHARED.0.get() = Some(state) };
    become_thread(0);
    IS_ON.store(true, Release);
}

pub(super) fn become_thread(number: usize) {
    OWN.set(Some(number));
}

/// This thread no longer belongs to the run.
pub(super) fn leave() {
    OWN.set(None);
}

/// Whether this thread belongs to a seeded run, and so has the turn. Inside [`with`] it is as if the
/// thread did not: what a signal's handler or the allocator calls there must not come back.
#[inline]
pub(super) fn is_controlled() -> bool {
    IS_ON.load(Relaxed) && OWN.get().is_some() && !IS_INSIDE.load(Relaxed)
}

/// Whether the thread that has the turn is inside [`with`].
pub(super) fn is_inside() -> bool {
    IS_INSIDE.load(Relaxed)
}

/// # Panics
///
/// Panics if this thread does not belong to the run.
pub(super) fn own() -> usize {
    OWN.get().expect("the thread belongs to the run")
}

/// The caller has made sure that this thread [is controlled](is_controlled).
pub(super) fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    IS_INSIDE.store(true, Relaxed);
    // SAFETY: a controlled thread that runs has the turn, and `IS_INSIDE` excludes a second
    // reference on this thread.
    let result = f(unsafe { &mut *SHARED.0.get() }.as_mut().expect("the run has begun"));
    IS_INSIDE.store(false, Relaxed);
    result
}
