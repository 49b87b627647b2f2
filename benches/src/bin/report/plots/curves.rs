//! What the panels show: latencies by percentile, costs by the number of Ps, and values minute
//! after minute.

use gmp_benches::side::Side;
use maud::{Markup, html};

use super::lines::{Axis, Line, Panel};
use super::quantity::{percentile, quantity};
use super::scale::{linear, linear_ticks, log, log_ticks, nines, round_stretch};

/// The results under one load: its name, and one line per side.
pub(crate) type Load = (String, Vec<Line>);

/// The percentiles that are marked, if there are enough latencies for them.
const QUANTILES: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/// A panel for each of `loads`, one line per side, from the median to the worst; `what` names the
/// latencies.
///
/// All panels have the same axes. The question is whether the line under a load is where it was
/// without the load, and a reader sees that by comparing two panels.
pub(crate) fn distributions(loads: &[Load], what: &'static str) -> Markup {
    let points = points(loads.iter().flat_map(|(_, lines)| lines));
    let last = points.iter().map(|point| point.0).fold(0.99, f64::max);
    let quantiles = QUANTILES.into_iter().filter(|quantile| *quantile <= last);
    let x = Axis {
        caption: "percentile",
        measure: nines,
        values: (0.5, last),
        ticks: quantiles.map(|quantile| (quantile, percentile(quantile))).collect(),
    };
    let y = logarithmic(what, round_stretch(points.iter().map(|point| point.1)).unwrap_or((0.1, 10.0)), "ms");
    panels(loads.iter().map(|(title, lines)| {
        Panel { title, x: x.clone(), y: y.clone(), lines, mark: None }.inline(&format!("{title}: {what} by percentile"))
    }))
}

/// The number of latencies on one side, and their `curve`: percentile (100 is the maximum) and
/// milliseconds, in ascending order. The maximum of a thousand latencies is drawn as their p99.9:
/// beyond its last latency a curve has no information.
pub(crate) fn distribution(side: Side, count: u64, curve: &[(f64, f64)]) -> Line {
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
    let x = Axis {
        caption: "Ps (gmp), workers (tokio)",
        measure: log,
        values: (first, last.max(first * 2.0)),
        ticks: procs.into_iter().map(|procs| (procs, procs.to_string())).collect(),
    };
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
    let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let ticks = linear_ticks(most, 6);
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

    fn line(points: &[(f64, f64)]) -> [Line; 1] {
        [Line { side: Side::Gmp, points: points.to_vec() }]
    }

    #[test]
    fn a_maximum_is_as_rare_as_there_were_latencies() {
        let thousand = distribution(Side::Gmp, 1000, &[(50.0, 1.0), (99.0, 2.0), (99.99, 3.0), (100.0, 4.0)]);
        assert_eq!(thousand.points, [(0.5, 1.0), (0.99, 2.0), (0.999, 4.0)]);
    }

    #[test]
    fn all_distributions_have_the_same_axes() {
        let load = |worst| ("load".to_owned(), vec![distribution(Side::Gmp, 1000, &[(50.0, 0.1), (100.0, worst)])]);
        let panels = distributions(&[0.2, 150.0].map(load), "latency").into_string();
        assert_eq!(panels.matches(">100 ms<").count(), 2, "{panels}");
    }

    #[test]
    fn every_number_of_procs_that_was_run_is_marked_and_a_level_line_has_a_decade_around_it() {
        let points = [(1.0, 50.0), (8.0, 60.0), (64.0, 70.0)];
        let svg = procs("row", "ns/op", 2, &line(&points)).into_string();
        assert!([">1<", ">8<", ">64<", ">2 cores<"].iter().all(|mark| svg.contains(mark)), "{svg}");
        let (low, high) = costs(&points);
        assert!(high / low > 9.9, "{low} {high}");
    }

    #[test]
    fn the_axis_of_a_course_begins_at_zero_and_an_hour_is_a_line_without_dots() {
        let svg = course("p99", "ms", &line(&[(1.0, 0.8), (60.0, 0.9)])).into_string();
        assert!([">0<", ">1 ms<", ">60<", "<circle"].iter().all(|it| svg.contains(it)), "{svg}");
        let minutes: Vec<_> = (1..=60).map(|minute| (f64::from(minute), 1.0)).collect();
        assert!(!course("p99", "ms", &line(&minutes)).into_string().contains("<circle"));
    }

    #[test]
    fn nothing_and_nonsense_draw_axes_and_no_line() {
        let nowhere: &[(f64, f64)] = &[(0.0, 0.0), (f64::NAN, f64::INFINITY), (f64::INFINITY, f64::NAN)];
        for points in [&[], nowhere] {
            let load = ("load".to_owned(), vec![distribution(Side::Gmp, 9, points)]);
            let drawn = html! {
                (distributions(&[load], "latency")) (procs("row", "ns/op", 2, &line(points)))
                (course("p99", "ms", &line(points)))
            };
            let drawn = drawn.into_string();
            assert!(!["<polyline", "NaN", "inf"].iter().any(|it| drawn.contains(it)), "{drawn}");
            assert!(drawn.contains("minute"), "{drawn}");
        }
    }
}
