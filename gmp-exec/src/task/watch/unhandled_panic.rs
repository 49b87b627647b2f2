//! What a panic of a task does to the runtime or the `LocalSet` of the task.

use crate::sched::shutdown::task_panic::note_panic;
use crate::sync::atomic::AtomicU8;
use crate::sync::atomic::Ordering::Relaxed;
use crate::task::cell::header::Header;
use crate::task::cell::home::Home;

/// What happens when a task panics; see
/// [`Builder::unhandled_panic`](crate::runtime::Builder::unhandled_panic).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum UnhandledPanic {
    /// The task's [`JoinHandle`](crate::task::JoinHandle) returns the panic, and nothing else
    /// happens. The default.
    Ignore,
    /// All tasks are dropped, and `block_on` panics.
    ShutdownRuntime,
}

impl UnhandledPanic {
    pub(crate) fn shuts_down(&self) -> bool {
        matches!(self, UnhandledPanic::ShutdownRuntime)
    }
}

/// A task's future has panicked in its poll. Blocking closures don't count, as on tokio.
#[cold]
pub(in crate::task) fn note(task: &Header) {
    match &*task.home {
        _ if task.is_closure() => {}
        Home::Scheduler(scheduler) => note_panic(scheduler),
        Home::Local(home) => home.on_panic.note(),
    }
}

/// The setting of a set, and whether a task of it has panicked. Written and read by the set's
/// thread only; an atomic, because other threads share the set's home.
#[derive(Debug)]
pub(in crate::task) struct OnPanic(AtomicU8);

const IGNORE: u8 = 0;
const SHUT_DOWN: u8 = 1;
const PANICKED: u8 = 2;

impl OnPanic {
    pub(in crate::task) fn new(setting: &UnhandledPanic) -> OnPanic {
        OnPanic(AtomicU8::new(if setting.shuts_down() { SHUT_DOWN } else { IGNORE }))
    }

    pub(in crate::task) fn set(&self, setting: &UnhandledPanic) {
        self.0.store(if setting.shuts_down() { SHUT_DOWN } else { IGNORE }, Relaxed);
    }

    fn note(&self) {
        if self.0.load(Relaxed) == SHUT_DOWN {
            self.0.store(PANICKED, Relaxed);
        }
    }

    #[inline]
    pub(in crate::task) fn has_panicked(&self) -> bool {
        self.0.load(Relaxed) == PANICKED
    }
}
