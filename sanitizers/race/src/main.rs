//! Two tasks write to one variable at the same time. `sanitize.sh` runs this program first: if
//! ThreadSanitizer reported nothing here, its silence about the tests would mean nothing.
//!
//! The scheduler runs the tasks, and nothing else synchronises them. So the report also shows that
//! ThreadSanitizer does not take all polls for ordered by what the scheduler does between them.

use std::cell::UnsafeCell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

struct Unprotected(UnsafeCell<u64>);

// SAFETY: none; this is the fault.
unsafe impl Sync for Unprotected {}

static VARIABLE: Unprotected = Unprotected(UnsafeCell::new(0));
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// Waits inside the poll, so that both tasks have a thread each.
async fn race() {
    STARTED.fetch_add(1, Relaxed);
    while STARTED.load(Relaxed) < 2 {
        spin_loop();
    }
    for _ in 0..1_000 {
        // SAFETY: none, as above.
        unsafe { *VARIABLE.0.get() += 1 };
    }
}

fn main() {
    let runtime = gmp_exec::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("starts");
    runtime.block_on(async {
        let tasks = [gmp_exec::spawn(race()), gmp_exec::spawn(race())];
        for task in tasks {
            task.await.expect("does not panic");
        }
    });
    println!("ended without a report");
}
