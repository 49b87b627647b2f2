//! Ownership of a processor: its cost for every poll and every wake, and passing a processor on.

use criterion::Criterion;
use gmp_exec::bench::Relay;

pub(crate) fn bench(criterion: &mut Criterion) {
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
