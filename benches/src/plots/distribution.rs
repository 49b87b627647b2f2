//! Latency distributions: a panel a load, a line a side, from the median to the worst.
//!
//! All panels have the same axes. What is asked is whether the line under a load is where it was without it, and that is
//! seen by looking from one panel to the next.

use super::Side;
use super::lines::{Axis, Line, Panel};
use super::quantity::{percentile, quantity};
use super::scale::{Scale, log_ticks, round_stretch};

/// What was measured under one load.
#[derive(Debug, Clone, Default)]
pub struct Load {
    /// What the load was.
    pub title: String,
    /// The sides, each with its latencies.
    pub sides: Vec<(Side, Latencies)>,
}

/// How many latencies there were, and what share of them was how low.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    /// So many.
    pub count: u64,
    /// Percentile (100 is the maximum) and milliseconds, in ascending order.
    pub curve: Vec<(f64, f64)>,
}

/// Where the percentiles are marked, as far as there are enough latencies to speak of them.
const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/// A panel for each of `loads`, for a page that has the style sheet; `what` names the latencies.
pub fn inline(loads: &[Load], what: &str) -> Vec<String> {
    let lines: Vec<Vec<Line>> = loads.iter().map(lines).collect();
    let (x, y) = axes(lines.iter().flatten(), what);
    let panel = |(load, lines): (&Load, Vec<Line>)| {
        let panel = Panel { title: &load.title, x: x.clone(), y: y.clone(), lines, mark: None };
        panel.draw().inline(&format!("{}: {what} by percentile", load.title))
    };
    loads.iter().zip(lines).map(panel).collect()
}

fn lines(load: &Load) -> Vec<Line> {
    load.sides.iter().map(|(side, latencies)| Line { side: *side, points: points(latencies) }).collect()
}

/// The maximum of a thousand is drawn as their p99.9: beyond its last latency a curve says nothing.
fn points(latencies: &Latencies) -> Vec<(f64, f64)> {
    let last = 1.0 - 1.0 / latencies.count.max(1) as f64;
    let known = latencies.curve.iter().filter(|(percentile, _)| percentile / 100.0 < last);
    let maximum = latencies.curve.last().map(|(_, value)| (last, *value));
    known.map(|(percentile, value)| (percentile / 100.0, *value)).chain(maximum).collect()
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

    fn latencies(count: u64, curve: &[(f64, f64)]) -> Latencies {
        Latencies { count, curve: curve.to_vec() }
    }

    #[test]
    fn a_maximum_is_as_rare_as_there_were_latencies() {
        let thousand = latencies(1000, &[(50.0, 1.0), (99.0, 2.0), (99.99, 3.0), (100.0, 4.0)]);
        assert_eq!(points(&thousand), [(0.5, 1.0), (0.99, 2.0), (0.999, 4.0)]);
    }

    #[test]
    fn all_panels_have_the_same_axes() {
        let load = |title: &str, worst| Load {
            title: title.to_owned(),
            sides: vec![(Side::Gmp, latencies(1000, &[(50.0, 0.1), (100.0, worst)]))],
        };
        let panels = inline(&[load("calm", 0.2), load("busy", 150.0)], "latency");
        assert!(panels.iter().all(|panel| panel.contains(">200 ms<") || panel.contains(">100 ms<")), "{panels:?}");
    }

    #[test]
    fn latencies_that_are_missing_or_nothing_draw_nothing() {
        let load = |latencies| Load { title: "load".to_owned(), sides: vec![(Side::Tokio, latencies)] };
        let loads = [
            load(Latencies::default()),
            load(latencies(0, &[(100.0, 0.0)])),
            load(latencies(9, &[(50.0, f64::NAN), (100.0, f64::INFINITY)])),
        ];
        for panel in inline(&loads, "latency") {
            assert!(!panel.contains("<polyline") && !panel.contains("NaN") && !panel.contains("inf"), "{panel}");
        }
        assert!(inline(&[], "latency").is_empty());
    }
}
