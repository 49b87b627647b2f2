//! When a task is no longer marked as a hog: after several short polls, not after one.

use std::thread;
use std::time::Duration;

use gmp_exec::task::yield_now;

use super::measure::longest_gap;
use crate::support::{Watchdog, multi, taken};

/// Like a connection that reads a header in one poll and executes a blocking request in the next
/// one. The ticker needs the processor.
#[test]
fn a_short_poll_does_not_unmark_a_hog() {
    let runtime = multi(1).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    longest_gap(&runtime, || {
        let hog = runtime.spawn(async {
            for _ in 0..40 {
                thread::sleep(Duration::from_millis(30));
                yield_now().await;
                yield_now().await;
            }
        });
        runtime.block_on(hog).unwrap();
    });
    let (blocked, computing) = taken(&runtime);
    assert!(blocked + computing <= 12, "{blocked} blocked, {computing} computing");
}
