//! What a program must not do, and whether it has done it.

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

/// Long enough for a machine that does a lot else.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the tasks of one program have seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record(Arc<Mutex<Vec<String>>>);

impl Record {
    /// Runs a task of the program, and notes if it panics. The record is kept until its future is
    /// dropped.
    pub(crate) fn watch<T: Future<Output = ()>>(&self, task: T) -> impl Future<Output = ()> + use<T> {
        let record = self.clone();
        async move {
            if let Err(payload) = AssertUnwindSafe(task).catch_unwind().await {
                record.note_end(text(&*payload));
            }
        }
    }

    /// Notes an error if it says that the runtime ends. All others are the program's own.
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

    /// How many hold on to the record: futures that exist, and the test.
    pub(crate) fn holders(&self) -> usize {
        Arc::strong_count(&self.0)
    }
}

fn text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Ends the process if a program takes too long: it could not be ended otherwise.
pub(crate) struct Watchdog(Arc<AtomicBool>);

impl Watchdog {
    pub(crate) fn start(name: &'static str, seed: u64) -> Watchdog {
        let is_over = Arc::new(AtomicBool::new(false));
        let watched = is_over.clone();
        thread::spawn(move || {
            let since = Instant::now();
            while !watched.load(SeqCst) {
                if since.elapsed() > PATIENCE {
                    // Not captured, as what `eprintln` prints here would be.
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
