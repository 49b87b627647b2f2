//! Rows for tests.

use gmp_benches::report::Line;
use gmp_benches::rt::Tokio;
use gmp_benches::workloads;

/// A row that was measured with two Ps.
pub(crate) fn row(workload: &str, gmp: f64, tokio: f64) -> Line {
    let (workload, unit) = (workload.to_owned(), "ns/op".to_owned());
    Line { workload, unit, gmp, tokio, procs: 2, ..Line::default() }
}

/// All rows of the scheduler, gmp's twice as fast as tokio's.
pub(crate) fn scheduler() -> Vec<Line> {
    workloads::scheduler::<Tokio>().iter().map(|workload| row(workload.name, 50.0, 100.0)).collect()
}
