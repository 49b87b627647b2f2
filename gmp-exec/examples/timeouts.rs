//! Timeouts: one for each attempt, and one for all attempts together.
//!
//! `timeout` drops the future when time is up, which is how a future is cancelled. That happens
//! where the future waits: a future that blocks its thread is dropped after its poll, not before.
//!
//!     cargo run -p gmp-exec --example timeouts

use std::time::Duration;

use gmp_exec::time::error::Elapsed;
use gmp_exec::time::{sleep, timeout};

const EACH: Duration = Duration::from_millis(50);
const TOGETHER: Duration = Duration::from_millis(220);

#[gmp_exec::main]
async fn main() {
    for slow_attempts in [2, 100] {
        match answer(slow_attempts).await {
            Ok(attempt) => println!("answered at attempt {attempt}"),
            Err(_) => println!("no answer within {TOGETHER:?}"),
        }
    }
}

/// Asks until there is an answer. Returns the number of the attempt that was answered.
///
/// # Errors
///
/// If there is none within `TOGETHER`.
async fn answer(slow_attempts: u32) -> Result<u32, Elapsed> {
    let attempts = async {
        let mut attempt = 1;
        while timeout(EACH, ask(attempt, slow_attempts)).await.is_err() {
            attempt += 1;
        }
        attempt
    };
    timeout(TOGETHER, attempts).await
}

/// Stands for a request over the network, which takes too long for the first attempts.
async fn ask(attempt: u32, slow_attempts: u32) {
    sleep(if attempt <= slow_attempts { 10 * EACH } else { EACH / 10 }).await;
}

#[gmp_exec::test(start_paused = true)]
async fn slow_attempts_are_repeated_until_all_time_is_up() {
    assert_eq!(answer(0).await, Ok(1));
    assert_eq!(answer(3).await, Ok(4));
    assert!(answer(5).await.is_err());
}
