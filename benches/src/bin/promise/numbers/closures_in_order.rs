//! One closure that may block runs at a time, and 300 are spawned: do they run in order? A new
//! closure must not take a permit that a waiting one is about to get.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::Result;
use gmp_benches::rt::{Gmp, Tokio, Twin, in_task, join_all};

use super::{Figure, Numbers};
use crate::Options;

const CLOSURES: usize = 300;

pub(super) const ROW: Numbers = Numbers::new(
    "closures: 300, one at a time",
    &[Figure::wanted("later ones overtake", "closures", 0.0, 0.0)],
    measure::<Gmp>,
    Some(measure::<Tokio>),
);

fn measure<R: Twin>(options: &Options) -> Result<Vec<f64>> {
    let rt = R::with_closures_at_once(options.procs, 1)?;
    let (start, started) = mpsc::channel();
    in_task(&rt, come::<R>(start));
    rt.shutdown();
    Ok(vec![overtaken(&started.iter().collect::<Vec<_>>()) as f64])
}

async fn come<R: Twin>(start: mpsc::Sender<usize>) {
    let closure = |number| {
        let start = start.clone();
        R::spawn_blocking(move || {
            start.send(number).expect("the measurement goes on");
            thread::sleep(Duration::from_micros(100));
        })
    };
    join_all::<R>((0..CLOSURES).map(closure).collect()).await;
}

/// For the closure that was overtaken most: how many closures were spawned after it and started
/// before it. `started` has the numbers of the closures in the order of their starts.
fn overtaken(started: &[usize]) -> usize {
    let by = |(place, &number): (usize, &usize)| started[..place].iter().filter(|&&other| other > number).count();
    started.iter().enumerate().map(by).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_is_overtaken_by_the_later_ones_that_start_before_it() {
        assert_eq!(overtaken(&[0, 1, 2, 3]), 0);
        assert_eq!(overtaken(&[1, 3, 0, 2]), 2);
        assert_eq!(overtaken(&[1, 2, 3, 0]), 3);
    }
}
