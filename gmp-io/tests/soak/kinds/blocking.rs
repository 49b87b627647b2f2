//! What holds a thread: closures that may, sections that say so, and tasks that should not and do.

use std::hint::spin_loop;
use std::time::{Duration, Instant};
use std::{io, thread};

use gmp_exec::runtime::Handle;
use gmp_exec::spawn;
use gmp_exec::task::{block_in_place, spawn_blocking, yield_now};
use gmp_exec::time::{sleep, timeout};

use super::wrong;
use crate::dice::Dice;

pub(super) async fn turn(mut dice: Dice) -> io::Result<()> {
    let short = dice.millis_below(20);
    let number = dice.below(1000);
    let result = match dice.below(8) {
        0 => spawn_blocking(move || number).await,
        1 => spawn_blocking(move || after(short, number)).await,
        // Nobody waits for it; the runtime must not forget it all the same.
        2 => {
            drop(spawn_blocking(move || after(short, number)));
            Ok(number)
        }
        3 => timeout(short / 2, spawn_blocking(move || after(short, number))).await.unwrap_or(Ok(number)),
        4 => spawn_blocking(move || Handle::current().block_on(sleep(short))).await.map(|()| number),
        5 => Ok(block_in_place(|| after(short, number))),
        6 => spawn(async move { after(short, number) }).await,
        _ => spawn(compute(short, number)).await,
    };
    match result {
        Ok(answer) if answer == number => Ok(()),
        Ok(_) => Err(wrong("a closure gave another one's result")),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Holds the thread without using the core.
fn after(duration: Duration, number: u64) -> u64 {
    thread::sleep(duration);
    number
}

/// Holds the core as well, in two polls.
async fn compute(duration: Duration, number: u64) -> u64 {
    for _ in 0..2 {
        let start = Instant::now();
        while start.elapsed() < duration / 2 {
            spin_loop();
        }
        yield_now().await;
    }
    number
}
