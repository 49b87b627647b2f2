//! What the panels show: latencies by percentile, costs by the number of Ps, and values minute
//! after minute.

use gmp_benches::report::{percentile, quantity};
use gmp_benches::side::Side;
use maud::{Markup, html};

use super::panel::{Axis, Line, Panel};
use super::scale::{linear, linear_ticks, log, log_ticks, nines, round_stretch};

/// The results of a side under one load: how many latencies there were, and their curve, percentile
/// (100 is the maximum) and milliseconds, in ascending order.
pub(crate) type Latencies<'a> = (Side, u64, &'a [(f64, f64)]);

/// The percentiles that are marked, if there are enough latencies for them.
const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/// A panel for each of `loads`, one line per side, from the median to the worst; `what` names the
/// latencies.
///
/// All panels have the same axes. The question is whether the line under a load is where it was
/// without the load, and a reader sees that by comparing two panels.
pub(crate) fn distributions<T>(
    loads: &[(&str, Vec<&T>)],
    latencies: fn(&T) -> Latencies<'_>,
    what: &'static str,
) -> Markup {
    let lines = |rows: &[&T]| rows.iter().map(|row| distribution(latencies(row))).collect();
    let loads: Vec<(&str, Vec<Line>)> = loads.iter().map(|(title, rows)| (*title, lines(rows))).collect();
    let points = points(loads.iter().flat_map(|(_, lines)| lines));
    let last = points.iter().map(|point| point.0).fold(0.99, f64::max);
    let quantiles = QUANTILES.into_iter().filter(|quantile| *quantile <= last);
    let ticks = quantiles.map(|quantile| (quantile, percentile(quantile))).collect();
    let x = Axis { caption: "percentile", measure: nines, values: (0.5, last), ticks };
    let y = logarithmic(what, round_stretch(points.iter().map(|point| point.1)).unwrap_or((0.1, 10.0)), "ms");
    panels(loads.iter().map(|(title, lines)| {
        Panel { title, x: x.clone(), y: y.clone(), lines, mark: None }.inline(&format!("{title}: {what} by percentile"))
    }))
}

/// The maximum of a thousand latencies is drawn as their p99.9: beyond its last latency a curve has
/// no information.
fn distribution((side, count, curve): Latencies<'_>) -> Line {
    let last = 1.0 - 1.0 / count.max(1) as f64;
    let known = curve.iter().filter(|(percentile, _)| percentile / 100.0 < last);
    let maximum = curve.last().map(|(_, value)| (last, *value));
    Line { side, points: known.map(|(percentile, value)| (percentile / 100.0, *value)).chain(maximum).collect() }
}

/// The cost of an operation of the workload `name` by the number of Ps, on a machine with `cores`
/// cores, which are marked; 0 if their number isn't known.
///
/// The question is about the shape of the line: does it stay level when there are many more Ps than
/// cores? Each panel has its own axis of costs; a common axis, for rows of 50 ns and of 1 µs, would
/// show neither.
pub(crate) fn procs(name: &str, unit: &str, cores: usize, lines: &[Line]) -> Markup {
    let points = points(lines);
    let mut procs: Vec<f64> = points.iter().map(|point| point.0).filter(|procs| *procs > 0.0).collect();
    procs.sort_by(f64::total_cmp);
    procs.dedup();
    let (first, last) = (procs.first().copied().unwrap_or(1.0), procs.last().copied().unwrap_or(64.0));
    let ticks = procs.into_iter().map(|procs| (procs, procs.to_string())).collect();
    let x = Axis { caption: "Ps (gmp), workers (tokio)", measure: log, values: (first, last.max(first * 2.0)), ticks };
    let y = logarithmic("time per operation", costs(&points), unit);
    let mark = (cores > 0).then(|| (cores as f64, format!("{cores} cores")));
    let what = format!("{name}: cost of an operation by the number of processors");
    Panel { title: name, x, y, lines, mark }.inline(&what)
}

/// At least a decade: on a level line, noise must not look like a trend.
fn costs(points: &[(f64, f64)]) -> (f64, f64) {
    let (low, high) = round_stretch(points.iter().map(|point| point.1)).unwrap_or((1.0, 10.0));
    if high / low < 10.0 { (high / 10.0, high) } else { (low, high) }
}

/// The course of `title`, in `unit`, over the minutes of a run: does it drift?
///
/// The axis begins at zero. On an axis that begins at the lowest value, all noise would look like a
/// drift.
pub(crate) fn course(title: &str, unit: &str, lines: &[Line]) -> Markup {
    let points = points(lines);
    let x = from_zero("minute", points.iter().map(|point| point.0), &|minute| minute.to_string());
    let y = from_zero("", points.iter().map(|point| point.1), &|value| quantity(value, unit));
    Panel { title, x, y, lines, mark: None }.inline(&format!("{title} minute by minute"))
}

/// Drawings side by side, as many as there is room for.
pub(crate) fn panels(drawings: impl IntoIterator<Item = Markup>) -> Markup {
    html! { div.panels { @for drawing in drawings { (drawing) } } }
}

fn from_zero(caption: &'static str, values: impl Iterator<Item = f64>, words: &dyn Fn(f64) -> String) -> Axis {
    let ticks = linear_ticks(values.filter(|value| value.is_finite()).fold(0.0, f64::max), 6);
    let end = ticks.last().copied().unwrap_or(1.0);
    let ticks = ticks.into_iter().map(|tick| (tick, words(tick))).collect();
    Axis { caption, measure: linear, values: (0.0, end), ticks }
}

fn logarithmic(caption: &'static str, values: (f64, f64), unit: &str) -> Axis {
    let ticks = log_ticks(values, 7).into_iter().map(|value| (value, quantity(value, unit))).collect();
    Axis { caption, measure: log, values, ticks }
}

fn points<'a>(lines: impl IntoIterator<Item = &'a Line>) -> Vec<(f64, f64)> {
    lines.into_iter().flat_map(|line| line.points.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_is_as_rare_as_there_were_latencies() {
        let thousand = distribution((Side::Gmp, 1000, &[(50.0, 1.0), (99.0, 2.0), (99.99, 3.0), (100.0, 4.0)]));
        assert_eq!(thousand.points, [(0.5, 1.0), (0.99, 2.0), (0.999, 4.0)]);
    }

    #[test]
    fn axes_do_not_flatter() {
        let curves = [0.2, 150.0].map(|worst| [(50.0, 0.1), (100.0, worst)]);
        let loads: Vec<_> = curves.iter().map(|curve| ("load", vec![curve])).collect();
        let panels = distributions(&loads, |curve| (Side::Gmp, 1000, curve), "latency").into_string();
        assert_eq!(panels.matches(">100 ms<").count(), 2, "all have the same axes: {panels}");
        let (low, high) = costs(&[(1.0, 50.0), (8.0, 60.0), (64.0, 70.0)]);
        assert!(high / low > 9.9, "a level line has a decade around it: {low} {high}");
        let svg = course("p99", "ms", &[Line { side: Side::Gmp, points: vec![(1.0, 0.8), (60.0, 0.9)] }]).into_string();
        assert!(svg.contains(">0<"), "a course begins at zero: {svg}");
    }

    #[test]
    fn nothing_and_nonsense_draw_axes_and_no_line() {
        let nowhere: &[(f64, f64)] = &[(0.0, 0.0), (f64::NAN, f64::INFINITY), (f64::INFINITY, f64::NAN)];
        for points in [&[], nowhere] {
            let line = [Line { side: Side::Gmp, points: points.to_vec() }];
            let drawn = html! {
                (distributions(&[("load", vec![&points])], |points| (Side::Gmp, 9, points), "latency"))
                (procs("row", "ns/op", 2, &line)) (course("p99", "ms", &line))
            };
            let drawn = drawn.into_string();
            assert!(!["<polyline", "NaN", "inf"].iter().any(|it| drawn.contains(it)), "{drawn}");
            assert!(drawn.contains("minute"), "{drawn}");
        }
    }
}
