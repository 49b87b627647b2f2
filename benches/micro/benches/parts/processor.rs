//! A processor without its queues.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use gmp_exec::bench::{Relay, Timers};

const EXPIRING: u64 = 1000;

pub(crate) fn bench(criterion: &mut Criterion) {
    ownership(criterion);
    timers(criterion);
}

/// Ownership: its cost for every poll and every wake, and passing a processor on.
fn ownership(criterion: &mut Criterion) {
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
fn timers(criterion: &mut Criterion) {
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
