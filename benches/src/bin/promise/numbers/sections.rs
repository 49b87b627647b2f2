//! One P, and a poll that computes for 2 s but enters an empty section that may block every 4 ms:
//! do the sections hide from the scheduler that the poll computes?
//!
//! On gmp, writing to standard output is such a section. tokio has no sections (its
//! `block_in_place` gives the worker away until the poll ends), so only the row with standard
//! output is measured there.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{io, thread};

use gmp_benches::rt::{Gmp, Timers, Tokio};
use gmp_exec::task::blocking;
use tokio::io::AsyncWriteExt;

use super::long_polls::longest_gap;
use super::{Figure, Numbers, Process};
use crate::side::Side;
use crate::ticker;
use crate::way::Way;

const LENGTH: Duration = Duration::from_secs(2);
const EVERY: Duration = Duration::from_millis(4);

pub(crate) const EMPTY: Numbers = Numbers {
    name: "sections: 1 P, an empty one each 4 ms",
    figures: &[Figure::wanted("longest gap of a ticker", "ms", 30.0, 12.0)],
    process: Process::This,
    gmp: |_| measure::<Gmp, _>(enter),
    tokio: None,
};

pub(crate) const STDOUT: Numbers = Numbers {
    name: "sections: 1 P, a line to stdout each 4 ms",
    process: Process::Own,
    gmp: |_| measure::<Gmp, _>(write::<Gmp>),
    tokio: Some(|_| measure::<Tokio, _>(write::<Tokio>)),
    ..EMPTY
};

fn measure<R: Timers, F>(poll: fn(Instant) -> F) -> io::Result<Vec<f64>>
where
    F: Future<Output = ()> + Send + 'static,
{
    let rt = R::new(1)?;
    let (ticks, ()) = ticker::beside(&rt, &Arc::new(AtomicBool::new(false)), || {
        // The ticker must tick before it is disturbed.
        thread::sleep(Duration::from_millis(100));
        let task = rt.spawn_remote(poll(Instant::now() + LENGTH));
        rt.block_on(task).expect("the task that computes doesn't panic");
    });
    rt.shutdown(Duration::from_secs(10));
    Ok(vec![longest_gap(&ticks)])
}

async fn enter(end: Instant) {
    while Instant::now() < end {
        compute();
        blocking(|| ());
    }
}

/// The parent holds the pipe, which has room for all of the output.
async fn write<R: Side>(end: Instant) {
    let mut stdout = R::stdout();
    while Instant::now() < end {
        compute();
        stdout.write_all(b"x\n").await.expect("standard output can be written to");
    }
}

fn compute() {
    Way::ComputeUntil(EVERY).hold(&AtomicBool::new(false));
}
