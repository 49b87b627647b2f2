//! Latency distributions: one panel per load, one line per side, from the median to the worst.
//!
//! All panels have the same axes. The question is whether the line under a load is where it was
//! without the load, and a reader sees that by comparing two panels.

use gmp_benches::side::Side;

use super::lines::{Axis, Line, Panel};
use super::quantity::{percentile, quantity};
use super::scale::{Scale, log_ticks, round_stretch};

/// The results under one load: its name, and one line per side.
pub(crate) type Load = (String, Vec<Line>);

/// The percentiles that are marked, if there are enough latencies for them.
const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/// A panel for each of `loads`; `what` names the latencies.
pub(crate) fn inline(loads: Vec<Load>, what: &str) -> Vec<String> {
    let (x, y) = axes(loads.iter().flat_map(|(_, lines)| lines), what);
    let panel = |(title, lines): Load| {
        let panel = Panel { title: &title, x: x.clone(), y: y.clone(), lines, mark: None };
        panel.draw().inline(&format!("{title}: {what} by percentile"))
    };
    loads.into_iter().map(panel).collect()
}

/// The number of latencies on one side, and their `curve`: percentile (100 is the maximum) and
/// milliseconds, in ascending order. The maximum of a thousand latencies is drawn as their p99.9:
/// beyond its last latency a curve has no information.
pub(crate) fn line(side: Side, count: u64, curve: &[(f64, f64)]) -> Line {
    let last = 1.0 - 1.0 / count.max(1) as f64;
    let known = curve.iter().filter(|(percentile, _)| percentile / 100.0 < last);
    let maximum = curve.last().map(|(_, value)| (last, *value));
    let points = known.map(|(percentile, value)| (percentile / 100.0, *value)).chain(maximum).collect();
    Line { side, points }
}

fn axes<'a>(lines: impl Iterator<Item = &'a Line>, what: &str) -> (Axis, Axis) {
    let points: Vec<_> = lines.flat_map(|line| &line.points).copied().collect();
    let last = points.iter().map(|point| point.0).fold(0.99, f64::max);
    let stretch = round_stretch(points.iter().map(|point| point.1)).unwrap_or((0.1, 10.0));
    let quantiles = QUANTILES.into_iter().filter(|quantile| *quantile <= last);
    let x = Axis {
        caption: "percentile".to_owned(),
        scale: Scale::nines,
        values: (0.5, last),
        ticks: quantiles.map(|quantile| (quantile, percentile(quantile))).collect(),
    };
    let millis = log_ticks(stretch, 7).into_iter();
    let y = Axis {
        caption: what.to_owned(),
        scale: Scale::log,
        values: stretch,
        ticks: millis.map(|value| (value, quantity(value, "ms"))).collect(),
    };
    (x, y)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(count: u64, curve: &[(f64, f64)]) -> Load {
        ("load".to_owned(), vec![line(Side::Gmp, count, curve)])
    }

    #[test]
    fn a_maximum_is_as_rare_as_there_were_latencies() {
        let thousand = line(Side::Gmp, 1000, &[(50.0, 1.0), (99.0, 2.0), (99.99, 3.0), (100.0, 4.0)]);
        assert_eq!(thousand.points, [(0.5, 1.0), (0.99, 2.0), (0.999, 4.0)]);
    }

    #[test]
    fn all_panels_have_the_same_axes() {
        let panels = inline([0.2, 150.0].map(|worst| load(1000, &[(50.0, 0.1), (100.0, worst)])).into(), "latency");
        assert!(panels.iter().all(|panel| panel.contains(">200 ms<") || panel.contains(">100 ms<")), "{panels:?}");
    }

    #[test]
    fn latencies_that_are_missing_or_nothing_draw_nothing() {
        let nowhere = [(50.0, f64::NAN), (100.0, f64::INFINITY)];
        for panel in inline(vec![load(0, &[]), load(0, &[(100.0, 0.0)]), load(9, &nowhere)], "latency") {
            assert!(!panel.contains("<polyline") && !panel.contains("NaN") && !panel.contains("inf"), "{panel}");
        }
        assert!(inline(Vec::new(), "latency").is_empty());
    }
}
