//! The benchmarks: queues, a processor without its queues, and whole paths.

use std::time::{Duration, Instant};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use gmp_exec::bench::{Queues, Relay, Timers};
use gmp_micro::paths::{self, Path, TIMER_EXPIRY};
use gmp_micro::rt::{Flavor, Gmp, Twin};

/// A ring's capacity, and half of it.
const RING: usize = 256;
const HALF: usize = RING / 2;

/// The local queue, stealing from it, and the global queue behind it.
pub(crate) fn queues(criterion: &mut Criterion) {
    let mut queues = Queues::new();
    let mut group = criterion.benchmark_group("local_queue");
    group.bench_function("runnext", |bencher| bencher.iter(|| queues.push_and_pop_next()));
    group.throughput(Throughput::Elements(HALF as u64));
    group.bench_function("push_pop_128", |bencher| {
        bencher.iter(|| {
            queues.push(HALF);
            assert_eq!(queues.pop_all(), HALF);
        });
    });
    group.finish();
    overflow(criterion);
    take_global(criterion);
    steal(criterion);
}

/// A push for which half of the ring has to move.
fn overflow(criterion: &mut Criterion) {
    let mut queues = Queues::new();
    bench_prepared(criterion, "local_queue/overflow", || {
        queues.push(RING);
        let time = time(|| queues.push(1));
        while queues.pop_all() > 0 || queues.take_global() {}
        time
    });
}

/// Takes a processor's share of the tasks that have overflowed.
fn take_global(criterion: &mut Criterion) {
    let mut queues = Queues::new();
    bench_prepared(criterion, "global_queue/take_share", || {
        queues.push(RING + 1);
        assert_eq!(queues.pop_all(), HALF);
        let time = time(|| assert!(queues.take_global()));
        while queues.pop_all() > 0 || queues.take_global() {}
        time
    });
}

/// Steals from one victim, whose ring holds one task or is full.
fn steal(criterion: &mut Criterion) {
    let mut queues = Queues::new();
    for count in [1, RING] {
        bench_prepared(criterion, &format!("steal/half_of_{count}"), || {
            queues.push_to_victim(count);
            let time = time(|| assert!(queues.steal()));
            assert_eq!(1 + queues.pop_all() + queues.pop_all_of_victim(), count);
            time
        });
    }
}

/// Ownership: its cost for every poll and every wake, and passing a processor on.
pub(crate) fn ownership(criterion: &mut Criterion) {
    let mut relay = Relay::new();
    let mut group = criterion.benchmark_group("ownership");
    group.bench_function("poll", |bencher| bencher.iter(|| relay.poll()));
    group.bench_function("visit", |bencher| bencher.iter(|| relay.visit()));
    group.finish();
    let mut group = criterion.benchmark_group("sysmon");
    group.bench_function("look", |bencher| bencher.iter(|| relay.look()));
    // No other thread runs, so the heavy fence is at its cheapest.
    group.bench_function("retake", |bencher| bencher.iter(|| relay.retake()));
    group.finish();
    criterion.bench_function("handoff/hand_off", |bencher| bencher.iter(|| relay.hand_off()));
}

/// Timers: setting, cancelling, postponing and expiry, beside few and beside many others.
pub(crate) fn timers(criterion: &mut Criterion) {
    const EXPIRING: u64 = 1000;
    let mut group = criterion.benchmark_group("timers");
    for standing in [0, 1_000, 100_000] {
        let timers = Timers::new(standing);
        group.bench_function(BenchmarkId::new("set_and_cancel_beside", standing), |bencher| {
            bencher.iter(|| timers.set_and_cancel(1_000));
        });
        group.bench_function(BenchmarkId::new("set_postpone_and_cancel_beside", standing), |bencher| {
            bencher.iter(|| timers.set_and_postpone(1_000));
        });
    }
    group.throughput(Throughput::Elements(EXPIRING));
    group.bench_function("expiry_of_1000", |bencher| {
        let due = || {
            let timers = Timers::new(0);
            (0..EXPIRING).for_each(|moment| timers.set(moment));
            timers
        };
        bencher.iter_batched_ref(due, |timers| assert_eq!(timers.expire(EXPIRING), 1000), BatchSize::SmallInput);
    });
    group.finish();
}

/// The paths whose instructions are counted, in time: spawning, waking, yielding, timers, closures.
pub(crate) fn paths(criterion: &mut Criterion) {
    const OPERATIONS: usize = 1_000;
    for flavor in [Flavor::CurrentThread, Flavor::OneWorker] {
        let mut group = criterion.benchmark_group(flavor.name());
        group.throughput(Throughput::Elements(OPERATIONS as u64));
        // Without the expiry: its time would be that of the sleep.
        let is_wanted = |path: &Path<Gmp>| path.flavors.contains(&flavor) && path.name != TIMER_EXPIRY;
        for path in paths::all::<Gmp>().into_iter().filter(is_wanted) {
            let runtime = Gmp::start(flavor);
            group.bench_function(path.name, |bencher| bencher.iter(|| path.run(&runtime, OPERATIONS)));
        }
        group.finish();
    }
}

/// A benchmark whose rounds say themselves how long they took, without their preparation.
fn bench_prepared(criterion: &mut Criterion, name: &str, mut round: impl FnMut() -> Duration) {
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|rounds| (0..rounds).map(|_| round()).sum());
    });
}

/// The time of `measured`, plus two readings of the clock: less than building queues anew.
fn time(measured: impl FnOnce()) -> Duration {
    let start = Instant::now();
    measured();
    start.elapsed()
}
