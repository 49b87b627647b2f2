//! The timers of one processor: setting, cancelling, postponing and expiry, beside few and beside
//! many others.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use gmp_exec::bench::Timers;

const EXPIRING: u64 = 1000;

pub(crate) fn bench(criterion: &mut Criterion) {
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
