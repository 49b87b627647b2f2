//! The cost of an operation with more and more processors.
//!
//! One small panel per workload, because the question is about the shape of each line: does it stay
//! level when there are many more Ps than cores? Each panel has its own axis of costs; a common
//! axis, for rows of 50 ns and of 1 µs, would show neither.

use super::lines::{Axis, Line, Panel};
use super::quantity::quantity;
use super::scale::{Scale, log_ticks, round_stretch};

/// The panel of the workload `name` on a machine with `cores` cores, which are marked; 0 if their
/// number isn't known.
pub(crate) fn inline(name: &str, unit: &str, cores: usize, lines: Vec<Line>) -> String {
    let points: Vec<_> = lines.iter().flat_map(|line| line.points.clone()).collect();
    let mark = (cores > 0).then(|| (cores as f64, format!("{cores} cores")));
    let panel = Panel { title: name, x: procs(&points), y: values(&points, unit), lines, mark };
    panel.draw().inline(&format!("{name}: cost of an operation by the number of processors"))
}

fn procs(points: &[(f64, f64)]) -> Axis {
    let mut procs: Vec<f64> = points.iter().map(|point| point.0).filter(|procs| *procs > 0.0).collect();
    procs.sort_by(f64::total_cmp);
    procs.dedup();
    let (first, last) = (procs.first().copied().unwrap_or(1.0), procs.last().copied().unwrap_or(64.0));
    Axis {
        caption: "Ps (gmp), workers (tokio)".to_owned(),
        scale: Scale::log,
        values: (first, last.max(first * 2.0)),
        ticks: procs.into_iter().map(|procs| (procs, procs.to_string())).collect(),
    }
}

fn values(points: &[(f64, f64)], unit: &str) -> Axis {
    let (low, high) = round_stretch(points.iter().map(|point| point.1)).unwrap_or((1.0, 10.0));
    // At least a decade: on a level line, noise must not look like a trend.
    let stretch = if high / low < 10.0 { (high / 10.0, high) } else { (low, high) };
    Axis {
        caption: "time per operation".to_owned(),
        scale: Scale::log,
        values: stretch,
        ticks: log_ticks(stretch, 7).into_iter().map(|value| (value, quantity(value, unit))).collect(),
    }
}

#[cfg(test)]
mod tests {
    use gmp_benches::side::Side;

    use super::*;

    fn sweep(points: &[(f64, f64)]) -> String {
        inline("row", "ns/op", 2, vec![Line { side: Side::Gmp, points: points.to_vec() }])
    }

    #[test]
    fn every_number_of_procs_that_was_run_is_marked() {
        let svg = sweep(&[(1.0, 50.0), (8.0, 60.0), (64.0, 70.0)]);
        assert!([">1<", ">8<", ">64<", ">2 cores<"].iter().all(|mark| svg.contains(mark)), "{svg}");
    }

    #[test]
    fn a_level_line_has_at_least_a_decade_around_it() {
        let axis = values(&[(1.0, 60.0), (2.0, 61.0)], "ns/op");
        assert!(axis.values.1 / axis.values.0 > 9.9, "{axis:?}");
    }

    #[test]
    fn nothing_measured_or_nonsense_draws_no_line() {
        for points in [&[][..], &[(1.0, 0.0), (2.0, f64::NAN)], &[(0.0, 1.0), (f64::NAN, 2.0)]] {
            let svg = sweep(points);
            assert!(!svg.contains("<polyline") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
