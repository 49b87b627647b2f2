//! The paths whose instructions are counted, in time: spawning, waking, yielding, timers, closures.

use criterion::{Criterion, Throughput};
use gmp_micro::paths::{self, Path, TIMER_EXPIRY};
use gmp_micro::rt::{Flavor, Gmp, Twin};

/// Operations of a path per iteration.
const OPERATIONS: usize = 1_000;

pub(crate) fn bench(criterion: &mut Criterion) {
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
