//! A value minute after minute: does it drift?
//!
//! The axis begins at zero. On an axis that begins at the lowest value, all noise would look like a
//! drift.

use super::lines::{Axis, Line, Panel};
use super::quantity::quantity;
use super::scale::{Scale, linear_ticks};

/// The course of `title`, in `unit`, over the minutes of a run.
pub(crate) fn inline(title: &str, unit: &str, lines: Vec<Line>) -> String {
    let points: Vec<_> = lines.iter().flat_map(|line| line.points.clone()).collect();
    let panel = Panel {
        title,
        x: from_zero("minute", points.iter().map(|point| point.0), &|minute| minute.to_string()),
        y: from_zero("", points.iter().map(|point| point.1), &|value| quantity(value, unit)),
        lines,
        mark: None,
    };
    panel.draw().inline(&format!("{title} minute by minute"))
}

fn from_zero(caption: &str, values: impl Iterator<Item = f64>, words: &dyn Fn(f64) -> String) -> Axis {
    let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let ticks = linear_ticks(most, 6);
    let end = ticks.last().copied().unwrap_or(1.0);
    let ticks = ticks.into_iter().map(|tick| (tick, words(tick))).collect();
    Axis { caption: caption.to_owned(), scale: Scale::linear, values: (0.0, end), ticks }
}

#[cfg(test)]
mod tests {
    use gmp_benches::side::Side;

    use super::*;

    fn course(points: &[(f64, f64)]) -> String {
        inline("p99", "ms", vec![Line { side: Side::Gmp, points: points.to_vec() }])
    }

    #[test]
    fn the_axis_begins_at_zero() {
        let svg = course(&[(1.0, 0.8), (60.0, 0.9)]);
        assert!(svg.contains(">0<") && svg.contains(">1 ms<") && svg.contains(">60<"), "{svg}");
    }

    #[test]
    fn an_hour_is_a_line_without_dots() {
        let minutes: Vec<_> = (1..=60).map(|minute| (f64::from(minute), 1.0)).collect();
        assert!(!course(&minutes).contains("<circle"));
        assert!(course(&minutes[..3]).contains("<circle"));
    }

    #[test]
    fn nothing_and_zeros_and_nonsense_have_axes_all_the_same() {
        for points in [&[][..], &[(1.0, 0.0), (2.0, 0.0)], &[(1.0, f64::NAN), (2.0, f64::INFINITY)]] {
            let svg = course(points);
            assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.contains("minute"), "{svg}");
        }
    }
}
