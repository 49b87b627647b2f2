//! Tests with paused time: an hour passes in a moment, and exactly.
//!
//! With `start_paused = true` the runtime's clock stands still while a task runs. When all tasks
//! wait, the clock jumps to the earliest timer. `cargo test` runs the tests at the end.
//!
//!     cargo run -p gmp-exec --example paused_time

use std::time::Duration;

use gmp_exec::time::{Instant, sleep};

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

#[gmp_exec::main(flavor = "current_thread", start_paused = true)]
async fn main() {
    let (began, really_began) = (Instant::now(), std::time::Instant::now());
    let attempts = retry(fails(9)).await;
    println!("attempt {attempts} succeeded after {:?}", began.elapsed());
    println!("of which really passed {:?}", really_began.elapsed());
}

/// Repeats `operation` until it succeeds, and waits in between: twice as long each time, up to
/// `LONGEST`. Returns how many attempts that took.
async fn retry(mut operation: impl FnMut() -> Result<(), ()>) -> u32 {
    let mut pause = FIRST;
    for attempt in 1.. {
        if operation().is_ok() {
            return attempt;
        }
        sleep(pause).await;
        pause = LONGEST.min(2 * pause);
    }
    unreachable!("there are more numbers than attempts")
}

/// Something that fails so many times before it succeeds.
fn fails(times: u32) -> impl FnMut() -> Result<(), ()> {
    let mut failures = 0..times;
    move || failures.next().map_or(Ok(()), |_| Err(()))
}

#[gmp_exec::test(start_paused = true)]
async fn an_operation_that_succeeds_does_not_wait() {
    let began = Instant::now();
    assert_eq!((retry(fails(0)).await, began.elapsed()), (1, Duration::ZERO));
}

#[gmp_exec::test(start_paused = true)]
async fn pauses_double_up_to_the_longest() {
    let began = Instant::now();
    assert_eq!(retry(fails(8)).await, 9);
    assert_eq!(began.elapsed(), Duration::from_secs(1 + 2 + 4 + 8 + 16 + 32 + 60 + 60));
}
