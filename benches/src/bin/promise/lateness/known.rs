//! Tasks that the scheduler knows after their first poll: the same tasks hold their thread again
//! and again.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use gmp_benches::rt::Rt;

use crate::way::Way;

/// A number of tasks, which all run from the start to the end of a repetition.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    pub(crate) count: usize,
    pub(crate) way: Way,
}

impl Known {
    pub(crate) fn start<R: Rt>(self, rt: &R, stop: &Arc<AtomicBool>) -> Vec<R::JoinHandle<()>> {
        (0..self.count).map(|_| rt.spawn_remote(hold::<R>(self.way, stop.clone()))).collect()
    }
}

/// Holds the thread, yields, and repeats that until `stop`.
async fn hold<R: Rt>(way: Way, stop: Arc<AtomicBool>) {
    while !stop.load(Relaxed) {
        way.hold(&stop);
        R::yield_now().await;
    }
}
