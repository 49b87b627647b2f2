//! The local queue, stealing from it, and the global queue behind it.

use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput};
use gmp_exec::bench::Queues;

/// A ring's capacity, and half of it.
const RING: usize = 256;
const HALF: usize = RING / 2;

pub(crate) fn bench(criterion: &mut Criterion) {
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

/// A benchmark whose rounds say themselves how long they took, without their preparation.
fn bench_prepared(criterion: &mut Criterion, name: &str, mut round: impl FnMut() -> Duration) {
    criterion.bench_function(name, |bencher| {
        bencher.iter_custom(|rounds| (0..rounds).map(|_| round()).sum());
    });
}

/// The time of `measured`, plus two readings of the clock of about 40 ns together: less than
/// building queues anew.
fn time(measured: impl FnOnce()) -> Duration {
    let start = Instant::now();
    measured();
    start.elapsed()
}
