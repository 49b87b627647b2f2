//! Ctrl-C (SIGINT) and SIGTERM as a future.

use std::sync::Arc;
use std::{io, process, thread};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::Notify;

/// The first signal completes the future, the second ends the process.
///
/// # Errors
///
/// The signals can't be caught, or the thread that waits for them can't be started.
pub(crate) fn interrupted() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let first = Arc::new(Notify::new());
    let notify = first.clone();
    thread::Builder::new().name("signals".into()).spawn(move || {
        let mut signals = signals.forever();
        signals.next();
        notify.notify_one();
        if let Some(signal) = signals.next() {
            process::exit(128 + signal);
        }
    })?;
    Ok(async move { first.notified().await })
}
