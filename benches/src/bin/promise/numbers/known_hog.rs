//! A task that is known to compute has a short poll, or is aborted, while six other known tasks
//! compute for 3 s: does the task wait for their end?

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;
use gmp_benches::rt::{Gmp, Tokio, Twin, join_all};
use tokio::sync::mpsc as orders;

use super::{Figure, Numbers, on};
use crate::Options;
use crate::load::Way;
use crate::ticker::{self, Stop};

const OTHERS: usize = 6;
const LENGTH: Duration = Duration::from_secs(3);

/// How long a task computes in a poll to become known, and how many times.
const OFFENCE: Duration = Duration::from_millis(50);
const OFFENCES: usize = 2;

pub(super) const ROW: Numbers = Numbers::new(
    "known hog: beside 6 that compute 3 s",
    &[Figure::wanted("its short poll waits", "ms", 30.0, 5.0), Figure::wanted("its abort waits", "ms", 30.0, 5.0)],
    measure::<Gmp>,
    Some(measure::<Tokio>),
);

fn measure<R: Twin>(options: &Options) -> Result<Vec<f64>> {
    on::<R, _>(options.procs, |rt| {
        let stop = Stop::default();
        let (_, waits) = ticker::beside(rt, &stop, || {
            let [polled, aborted] = [(); 2].map(|()| Hog::known(rt, &stop));
            let others: Vec<Hog<R>> = (0..OTHERS).map(|_| Hog::known(rt, &stop)).collect();
            others.iter().for_each(|other| other.order(LENGTH));
            thread::sleep(Duration::from_millis(100));
            waits(rt, &polled, aborted)
        });
        waits
    })
}

/// How many ms a task waits until it runs after being woken, and how long after waking and aborting
/// a task its handle says that it has ended.
fn waits<R: Twin>(rt: &R, polled: &Hog<R>, aborted: Hog<R>) -> Vec<f64> {
    let start = Instant::now();
    aborted.order(Duration::ZERO);
    polled.order(Duration::ZERO);
    R::abort(&aborted.task);
    // The task may have run before the abort and wait again: the handle reports the end anyway.
    drop(rt.block_on(aborted.task));
    let abort = start.elapsed();
    [polled.step() - start, abort].map(|wait| wait.as_secs_f64() * 1000.0).to_vec()
}

/// A task that waits until it is told how long to compute.
struct Hog<R: Twin> {
    orders: orders::UnboundedSender<Duration>,
    steps: mpsc::Receiver<Instant>,
    task: R::JoinHandle<()>,
}

impl<R: Twin> Hog<R> {
    /// Creates a task that the scheduler already knows as a hog.
    fn known(rt: &R, stop: &Stop) -> Self {
        let ((orders, received), (step, steps)) = (orders::unbounded_channel(), mpsc::channel());
        let hog = Hog { orders, steps, task: rt.spawn_remote(obey(stop.clone(), step, received)) };
        (0..OFFENCES).for_each(|_| hog.offend(rt, stop));
        hog
    }

    /// Computes while tasks wait for a processor: only hogs that delay others are noticed.
    fn offend(&self, rt: &R, stop: &Stop) {
        self.order(OFFENCE);
        let company = |_| {
            let stop = stop.clone();
            rt.spawn_remote(async move { Way::ComputeUntil(OFFENCE).hold(&stop) })
        };
        rt.block_on(join_all::<R>((0..rt.procs()).map(company).collect()));
        // Its beginning and its end.
        self.step();
        self.step();
    }

    fn order(&self, length: Duration) {
        self.orders.send(length).expect("it waits for orders");
    }

    fn step(&self) -> Instant {
        self.steps.recv().expect("it says when it begins and when it has ended")
    }
}

/// Waking up, computing and waiting again are one poll, so each poll of a known hog is long.
async fn obey(stop: Stop, step: mpsc::Sender<Instant>, mut orders: orders::UnboundedReceiver<Duration>) {
    while let Some(length) = orders.recv().await {
        // After the measurement the receiver is gone.
        step.send(Instant::now()).unwrap_or_default();
        if !stop.is_set() {
            Way::ComputeUntil(length).hold(&stop);
        }
        step.send(Instant::now()).unwrap_or_default();
    }
}
