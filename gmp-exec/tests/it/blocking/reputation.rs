//! One verdict is not for life, and one short poll does not undo it.

use std::thread;
use std::time::Duration;

use gmp_exec::task::yield_now;

use super::measure::longest_gap;
use crate::support::{Watchdog, multi, taken};

/// As a connection whose header is read in one poll and whose request blocks in the next one. The ticker needs the processor.
#[test]
fn a_short_poll_does_not_make_a_known_offender_a_stranger() {
    let runtime = multi(1).build().unwrap();
    let _watchdog = Watchdog::of(&runtime);
    longest_gap(&runtime, || {
        let offender = runtime.spawn(async {
            for _ in 0..40 {
                thread::sleep(Duration::from_millis(30));
                yield_now().await;
                yield_now().await;
            }
        });
        runtime.block_on(offender).unwrap();
    });
    let (blocked, computing) = taken(&runtime);
    assert!(blocked + computing <= 12, "{blocked} blocked, {computing} computing");
}
