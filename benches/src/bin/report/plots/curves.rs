//! What the panels show: latencies by percentile, and costs by the number of Ps.

use gmp_benches::report::{Side, percentile, quantity};
use maud::{Markup, html};

use super::panel::{Axis, Line, Panel};
use super::scale::{log, log_ticks, nines, round_stretch};

/// The percentiles that are marked, if there are enough latencies for them.
const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/// The line of a side's `count` latencies, whose curve has percentiles (100 is the maximum) and
/// milliseconds, in ascending order.
///
/// The maximum of a thousand latencies is drawn as their p99.9: beyond its last latency a curve has
/// no information.
pub(crate) fn distribution(side: Side, count: u64, curve: &[(f64, f64)]) -> Line {
    let last = 1.0 - 1.0 / count.max(1) as f64;
    let known = curve.iter().filter(|(percentile, _)| percentile / 100.0 < last);
    let maximum = curve.last().map(|(_, value)| (last, *value));
    Line { side, points: known.map(|(percentile, value)| (percentile / 100.0, *value)).chain(maximum).collect() }
}

/// A panel for each load, one line per side, from the median to the worst; `what` names the
/// latencies.
///
/// All panels have the same axes. The question is whether the line under a load is where it was
/// without the load, and a reader sees that by comparing two panels.
pub(crate) fn distributions(loads: impl Iterator<Item = (String, Vec<Line>)>, what: &'static str) -> Markup {
    let loads: Vec<_> = loads.collect();
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

/// The cost of an operation of the workload `name` by the number of Ps, on a machine with `cores`
/// cores, which are marked; 0 if their number isn't known.
///
/// The question is about the shape of the line: does it stay level when there are many more Ps than
/// cores? Each panel has its own axis of costs, for rows of 50 ns and of 1 µs.
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

pub(crate) fn panels(drawings: impl IntoIterator<Item = Markup>) -> Markup {
    html! { div.panels { @for drawing in drawings { (drawing) } } }
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
        let thousand = distribution(Side::Gmp, 1000, &[(50.0, 1.0), (99.0, 2.0), (99.99, 3.0), (100.0, 4.0)]);
        assert_eq!(thousand.points, [(0.5, 1.0), (0.99, 2.0), (0.999, 4.0)]);
    }

    #[test]
    fn axes_do_not_flatter() {
        let line = |worst| distribution(Side::Gmp, 1000, &[(50.0, 0.1), (100.0, worst)]);
        let loads = [0.2, 150.0].into_iter().map(|worst| ("load".to_owned(), vec![line(worst)]));
        let panels = distributions(loads, "latency").into_string();
        assert_eq!(panels.matches(">100 ms<").count(), 2, "all have the same axes: {panels}");
        let (low, high) = costs(&[(1.0, 50.0), (8.0, 60.0), (64.0, 70.0)]);
        assert!(high / low > 9.9, "a level line has a decade around it: {low} {high}");
    }

    #[test]
    fn nothing_and_nonsense_draw_axes_and_no_line() {
        let nowhere: &[(f64, f64)] = &[(0.0, 0.0), (f64::NAN, f64::INFINITY), (f64::INFINITY, f64::NAN)];
        for points in [&[], nowhere] {
            let line = || vec![Line { side: Side::Gmp, points: points.to_vec() }];
            let latencies = distributions([("load".to_owned(), line())].into_iter(), "latency");
            let drawn = html! { (latencies) (procs("row", "ns/op", 2, &line())) }.into_string();
            assert!(!["<polyline", "NaN", "inf"].iter().any(|it| drawn.contains(it)), "{drawn}");
            assert!(drawn.contains("workers"), "{drawn}");
        }
    }
}
