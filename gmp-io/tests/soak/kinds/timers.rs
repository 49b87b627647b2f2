//! Timers that pass, timers that are cancelled, and many of both at once.

use std::io;
use std::time::{Duration, Instant};

use gmp_exec::task::JoinSet;
use gmp_exec::time::{interval, sleep, timeout};

use super::wrong;
use crate::dice::Dice;

/// Never passes while the soak lasts: it has to be cancelled.
const FOR_EVER: Duration = Duration::from_secs(1_000_000);

pub(super) async fn turn(mut dice: Dice) -> io::Result<()> {
    let start = Instant::now();
    let short = dice.millis_below(20);
    match dice.below(5) {
        0 => sleep(short).await,
        1 if timeout(short, sleep(FOR_EVER)).await.is_ok() => return Err(wrong("an endless sleep ended")),
        1 => {}
        2 => return passes_first(short).await,
        3 => return ticks(short / 4).await,
        _ => return cancel_many(&mut dice).await,
    }
    if start.elapsed() < short { Err(wrong("a timer was early")) } else { Ok(()) }
}

/// A timeout that is dropped unused.
async fn passes_first(short: Duration) -> io::Result<()> {
    timeout(FOR_EVER, sleep(short)).await.map_err(|_| wrong("an endless timeout passed"))
}

async fn ticks(period: Duration) -> io::Result<()> {
    let period = period.max(Duration::from_millis(1));
    let start = Instant::now();
    let mut ticks = interval(period);
    for _ in 0..4 {
        ticks.tick().await;
    }
    if start.elapsed() < 3 * period { Err(wrong("an interval was early")) } else { Ok(()) }
}

/// Tasks that would sleep for ever, aborted after they have begun to, or before.
async fn cancel_many(dice: &mut Dice) -> io::Result<()> {
    let mut tasks = JoinSet::new();
    for _ in 0..=dice.below(100) {
        tasks.spawn(sleep(FOR_EVER));
    }
    if dice.below(2) == 0 {
        sleep(Duration::from_millis(1)).await;
    }
    tasks.abort_all();
    while let Some(result) = tasks.join_next().await {
        if !result.is_err_and(|error| error.is_cancelled()) {
            return Err(wrong("an aborted sleep wasn't cancelled"));
        }
    }
    Ok(())
}
