//! A task that is known to compute has a short poll, or is aborted, while six others that are known too compute for 3 s:
//! does it wait for their end?

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use gmp_benches::rt::{Gmp, Tokio};
use tokio::sync::oneshot;

use super::{Figure, Numbers, Process};
use crate::{args::Options, side::Side, ticker, way::Way};

const OTHERS: usize = 6;
const LENGTH: Duration = Duration::from_secs(3);

/// How long each task computes in a poll, three times, to become known.
const OFFENCE: Duration = Duration::from_millis(50);

pub(crate) const ROW: Numbers = Numbers {
    name: "known hog: beside 6 that compute 3 s",
    figures: &[
        Figure::wanted("its short poll waits", "ms", 30.0, 5.0),
        Figure::wanted("its abort waits", "ms", 30.0, 5.0),
    ],
    process: Process::This,
    gmp: measure::<Gmp>,
    tokio: Some(measure::<Tokio>),
};

fn measure<R: Side>(options: &Options) -> io::Result<Vec<f64>> {
    let rt = R::new(options.procs)?;
    let stop = Arc::new(AtomicBool::new(false));
    // Somebody has to wait, or no processor is taken and nobody becomes known.
    let (_, waits) = ticker::beside(&rt, &stop, || {
        let mut hogs: Vec<Hog<R>> = (0..OTHERS + 2).map(|_| Hog::start(&rt, &stop)).collect();
        hogs.iter().for_each(Hog::wait_until_known);
        let (polled, aborted) = (hogs.pop().expect("eight"), hogs.pop().expect("eight"));
        hogs.into_iter().for_each(|other| other.wake.send(LENGTH).expect("it waits"));
        thread::sleep(Duration::from_millis(100));
        waits(&rt, polled, aborted)
    });
    rt.shutdown(Duration::from_secs(10));
    Ok(waits.to_vec())
}

/// How many ms one that was woken waits until it runs, and one that was woken and aborted until its handle says so.
fn waits<R: Side>(rt: &R, polled: Hog<R>, aborted: Hog<R>) -> [f64; 2] {
    let start = Instant::now();
    aborted.wake.send(Duration::ZERO).expect("it waits");
    polled.wake.send(Duration::ZERO).expect("it waits");
    R::abort(&aborted.task);
    // It may have run before the abort: its handle tells either way.
    drop(rt.block_on(aborted.task));
    let abort = start.elapsed();
    let poll = polled.steps.recv().expect("it says when it runs") - start;
    [poll, abort].map(|wait| wait.as_secs_f64() * 1000.0)
}

/// A task that computes in three polls and then waits until it is told how long it is to compute again.
struct Hog<R: Side> {
    wake: oneshot::Sender<Duration>,
    /// When it came to an end with the three polls, and when it was running again.
    steps: mpsc::Receiver<Instant>,
    task: R::JoinHandle<()>,
}

impl<R: Side> Hog<R> {
    fn start(rt: &R, stop: &Arc<AtomicBool>) -> Self {
        let (wake, woken) = oneshot::channel();
        let (step, steps) = mpsc::channel();
        Hog { wake, steps, task: rt.spawn_remote(hog::<R>(stop.clone(), step, woken)) }
    }

    fn wait_until_known(&self) {
        self.steps.recv().expect("it says when it has computed");
    }
}

/// The last poll before it waits is a long one, too: a short one may be taken for reform.
async fn hog<R: Side>(stop: Arc<AtomicBool>, step: mpsc::Sender<Instant>, woken: oneshot::Receiver<Duration>) {
    for poll in 0..3 {
        if poll > 0 {
            R::yield_now().await;
        }
        Way::ComputeUntil(OFFENCE).hold(&stop);
    }
    // Nobody listens to those that only compute, and nobody wakes those that wait at the end.
    step.send(Instant::now()).unwrap_or_default();
    let length = woken.await.unwrap_or_default();
    step.send(Instant::now()).unwrap_or_default();
    if !stop.load(Relaxed) {
        Way::ComputeUntil(length).hold(&stop);
    }
}
