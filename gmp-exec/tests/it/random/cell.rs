//! A cell for which one task waits until another task or thread sets it.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

#[derive(Default)]
struct Cell {
    is_set: bool,
    waker: Option<Waker>,
}

/// Sets the cell when this is dropped, so that no task waits for one that was cancelled.
pub(super) struct Setter(Arc<Mutex<Cell>>);

/// Ready once the cell is set. If a wake-up is lost, this waits for ever, and the watchdog tells.
pub(super) struct Waiting(Arc<Mutex<Cell>>);

pub(super) fn cell() -> (Setter, Waiting) {
    let cell = Arc::default();
    (Setter(Arc::clone(&cell)), Waiting(cell))
}

impl Drop for Setter {
    fn drop(&mut self) {
        let mut cell = self.0.lock().unwrap();
        cell.is_set = true;
        let waker = cell.waker.take();
        drop(cell);
        waker.into_iter().for_each(Waker::wake);
    }
}

impl Future for Waiting {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut cell = self.0.lock().unwrap();
        if cell.is_set {
            return Poll::Ready(());
        }
        let replaced = cell.waker.replace(cx.waker().clone());
        drop(cell);
        drop(replaced);
        Poll::Pending
    }
}
