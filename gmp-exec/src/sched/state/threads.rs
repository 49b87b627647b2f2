//! How to make the threads of a runtime, and the user's hooks at their beginning and end.

use std::io;
use std::time::Duration;

use crate::contain::contain;
use crate::sync::Arc;
use crate::sync::thread::{Builder, JoinHandle};

/// Dashboards and log filters of programs on the drop-in go by tokio's.
pub(crate) const DEFAULT_THREAD_NAME: &str =
    if cfg!(feature = "tokio-thread-names") { "tokio-rt-worker" } else { "gmp-machine" };

/// How to make threads.
pub(crate) struct Threads {
    pub(crate) name: Arc<dyn Fn() -> String + Send + Sync>,
    pub(crate) stack_size: Option<usize>,
    /// How long a surplus thread waits for work.
    pub(crate) keep_alive: Duration,
}

impl Threads {
    /// Calls the user's function on the thread that starts another, possibly inside a waker and in
    /// the middle of a handoff. A panic is contained.
    pub(crate) fn name(&self) -> String {
        contain(|| (self.name)()).unwrap_or_else(|| DEFAULT_THREAD_NAME.to_owned())
    }

    /// Threads that run no tasks: the stack size that the user has set may be too small for them.
    pub(crate) fn with_usual_stack(&self) -> Threads {
        Threads { name: self.name.clone(), stack_size: None, keep_alive: self.keep_alive }
    }

    pub(crate) fn spawn(&self, name: String, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
        let mut builder = Builder::new().name(name);
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        builder.spawn(body)
    }
}

pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

/// Callbacks that tell users about threads.
#[derive(Clone, Default)]
pub(crate) struct Hooks {
    pub(crate) on_start: Option<Hook>,
    pub(crate) on_stop: Option<Hook>,
    pub(crate) on_park: Option<Hook>,
    pub(crate) on_unpark: Option<Hook>,
}

/// A hook that panics has been reported by the panic hook. The thread goes on: it may hold a
/// processor already, or be the only one that watches the network.
pub(in crate::sched) fn call(hook: &Option<Hook>) {
    if let Some(hook) = hook {
        contain(|| hook());
    }
}
