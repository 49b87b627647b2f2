//! The errors that a program must not see, and a record of those that it has seen.

use std::any::Any;
use std::fmt::Display;
use std::future::Future;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use futures::FutureExt;

/// Long enough for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The errors that the tasks of one program have seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record(Arc<Mutex<Vec<String>>>);

impl Record {
    /// Runs a task of the program, and records a panic. The task's future holds the record until it
    /// is dropped.
    pub(crate) fn watch<T: Future<Output = ()>>(&self, task: T) -> impl Future<Output = ()> + use<T> {
        let record = self.clone();
        async move {
            if let Err(payload) = AssertUnwindSafe(task).catch_unwind().await {
                record.note_end(text(&*payload));
            }
        }
    }

    /// Records an error if it says that the runtime ends. The program expects all other errors.
    pub(crate) fn note<T, E: Display>(&self, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.note_end(error.to_string())).ok()
    }

    pub(crate) fn note_end(&self, message: String) {
        if ["being shutdown", "driver gone", "driver has terminated"].iter().any(|end| message.contains(end)) {
            self.0.lock().unwrap().push(message);
        }
    }

    pub(crate) fn faults(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    /// Waits until every task's future was dropped.
    pub(crate) fn wait_until_dropped(&self) {
        while Arc::strong_count(&self.0) > 1 {
            thread::sleep(Duration::from_micros(100));
        }
    }

    /// The number of references to the record: one for each existing future, and the test's.
    pub(crate) fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Aborts the process if a program takes too long, because a hanging program can't be ended
/// otherwise.
pub(crate) struct Watchdog(Arc<AtomicBool>);

impl Watchdog {
    pub(crate) fn start(name: &'static str, seed: u64) -> Watchdog {
        let is_over = Arc::new(AtomicBool::new(false));
        let watched = is_over.clone();
        thread::spawn(move || {
            let since = Instant::now();
            while !watched.load(SeqCst) {
                if since.elapsed() > PATIENCE {
                    // Written directly, because the test harness would capture the output of
                    // `eprintln`.
                    let _ = writeln!(std::io::stderr(), "program {seed} on {name} has not ended within {PATIENCE:?}");
                    std::process::abort();
                }
                thread::sleep(Duration::from_millis(20));
            }
        });
        Watchdog(is_over)
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}
