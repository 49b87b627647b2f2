//! What an operation costs with more and more processors.
//!
//! A small panel a workload, because the question is about the shape of each line: does it stay level when there are many
//! more Ps than cores? Each has its own axis of costs; a common one, for rows of 50 ns and of 1 µs, would show neither.

use super::Side;
use super::lines::{Axis, Line, Panel};
use super::quantity::quantity;
use super::scale::{Scale, log_ticks, round_stretch};

/// One workload with different numbers of processors.
#[derive(Debug, Clone, Default)]
pub struct Sweep {
    /// The workload.
    pub name: String,
    /// Of the values.
    pub unit: String,
    /// How many the machine has, to be marked; 0 if that isn't known.
    pub cores: usize,
    /// The sides, each with pairs of a number of processors and a value.
    pub sides: Vec<(Side, Vec<(f64, f64)>)>,
}

/// For a page that has the style sheet.
pub fn inline(sweep: &Sweep) -> String {
    let lines = sweep.sides.iter().map(|(side, points)| Line { side: *side, points: points.clone() });
    let mark = (sweep.cores > 0).then(|| (sweep.cores as f64, format!("{} cores", sweep.cores)));
    let panel = Panel { title: &sweep.name, x: procs(sweep), y: values(sweep), lines: lines.collect(), mark };
    panel.draw().inline(&format!("{}: cost of an operation by the number of processors", sweep.name))
}

fn procs(sweep: &Sweep) -> Axis {
    let mut procs: Vec<f64> = points(sweep).map(|point| point.0).filter(|procs| *procs > 0.0).collect();
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

fn values(sweep: &Sweep) -> Axis {
    let (low, high) = round_stretch(points(sweep).map(|point| point.1)).unwrap_or((1.0, 10.0));
    // At least a decade: noise on a level line must not look like hills.
    let stretch = if high / low < 10.0 { (high / 10.0, high) } else { (low, high) };
    Axis {
        caption: "time per operation".to_owned(),
        scale: Scale::log,
        values: stretch,
        ticks: log_ticks(stretch, 7).into_iter().map(|value| (value, quantity(value, &sweep.unit))).collect(),
    }
}

fn points(sweep: &Sweep) -> impl Iterator<Item = (f64, f64)> + '_ {
    sweep.sides.iter().flat_map(|(_, points)| points.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(points: &[(f64, f64)]) -> Sweep {
        let sides = vec![(Side::Gmp, points.to_vec())];
        Sweep { name: "row".to_owned(), unit: "ns/op".to_owned(), cores: 2, sides }
    }

    #[test]
    fn every_number_of_procs_that_was_run_is_marked() {
        let svg = inline(&sweep(&[(1.0, 50.0), (8.0, 60.0), (64.0, 70.0)]));
        assert!([">1<", ">8<", ">64<", ">2 cores<"].iter().all(|mark| svg.contains(mark)), "{svg}");
    }

    #[test]
    fn a_level_line_has_at_least_a_decade_around_it() {
        let axis = values(&sweep(&[(1.0, 60.0), (2.0, 61.0)]));
        assert!(axis.values.1 / axis.values.0 > 9.9, "{axis:?}");
    }

    #[test]
    fn nothing_measured_or_nonsense_draws_no_line() {
        for points in [&[][..], &[(1.0, 0.0), (2.0, f64::NAN)], &[(0.0, 1.0), (f64::NAN, 2.0)]] {
            let svg = inline(&sweep(points));
            assert!(!svg.contains("<polyline") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
