//! A panel with a few lines, each with its name at its end.
//!
//! All panels have the same size, and a page puts as many side by side as it has room for: scaled
//! to the width of a narrow page, their letters would be too small to read.

use gmp_benches::report::Side;
use maud::{Markup, html};

use super::scale::Scale;
use super::svg::{self, Point};
use super::width_of;

const SIZE: (f64, f64) = (340.0, 246.0);
const TOP: f64 = 56.0;
const GROUND: f64 = SIZE.1 - 40.0;
const LEFT: f64 = 50.0;
/// The distance between the end of a line and its name, and between two names.
const NAME_GAP: f64 = 8.0;
const NAME_HEIGHT: f64 = 14.0;

pub(super) struct Panel<'a> {
    pub(super) title: &'a str,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: &'a [Line],
    /// A value on the x axis to be marked, and the label of the mark.
    pub(super) mark: Option<(f64, String)>,
}

/// An axis without its pixels, which only the panel knows.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub(super) caption: &'static str,
    pub(super) measure: fn(f64) -> f64,
    pub(super) values: (f64, f64),
    pub(super) ticks: Vec<(f64, String)>,
}

pub(crate) struct Line {
    pub(crate) side: Side,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Panel<'_> {
    /// The panel for a page; `what` is read out to readers who can't see it.
    pub(super) fn inline(&self, what: &str) -> Markup {
        let names = self.lines.iter().map(|line| width_of(line.side.name())).fold(0.0, f64::max);
        let right = SIZE.0 - names - NAME_GAP;
        let scale = |axis: &Axis, pixels| Scale { measure: axis.measure, values: axis.values, pixels };
        let (x, y) = (scale(&self.x, (LEFT + 6.0, right)), scale(&self.y, (GROUND, TOP)));
        let lines = self.lines.iter().map(|line| {
            let points = line.points.iter().map(|point| (x.place(point.0), y.place(point.1)));
            (line.side, points.collect::<Vec<_>>())
        });
        let lines: Vec<_> = lines.collect();
        let body = html! {
            (svg::text("ink title", (0.0, 14.0), None, self.title))
            (svg::text("faint small", (0.0, 33.0), None, self.y.caption))
            (self.axes(x, y, right))
            @for (side, points) in &lines { (svg::group(side.name(), &line(*side, points))) }
            (names_of(&lines))
        };
        svg::inline(SIZE, what, &body)
    }

    fn axes(&self, x: Scale, y: Scale, right: f64) -> Markup {
        html! {
            @for (at, words) in self.y.ticks.iter().map(|(tick, words)| (y.place(*tick), words)) {
                (svg::line("grid", (LEFT, at), (right, at)))
                (svg::text("faint small", (LEFT - 6.0, at + 4.0), Some("end"), words))
            }
            @for (at, words) in self.x.ticks.iter().map(|(tick, words)| (x.place(*tick), words)) {
                (svg::line("faint", (at, GROUND), (at, GROUND + 4.0)))
                (svg::text("faint small", (at, GROUND + 16.0), Some("middle"), words))
            }
            (svg::line("faint", (LEFT, GROUND), (right, GROUND)))
            (svg::text("faint small", (f64::midpoint(LEFT, right), SIZE.1 - 6.0), Some("middle"), self.x.caption))
            @if let Some((at, words)) = self.mark.as_ref().map(|(value, words)| (x.place(*value), words)) {
                (svg::line("faint dotted", (at, TOP), (at, GROUND)))
                (svg::text("faint small", (at, TOP - 4.0), Some("middle"), words))
            }
        }
    }
}

/// With one dot per value, as long as the dots can be distinguished.
fn line(side: Side, points: &[Point]) -> Markup {
    let dashes = if side == Side::GmpWithoutSysmon { " dashed" } else { "" };
    html! {
        (svg::polyline(&format!("{}{dashes}", ink(side)), points))
        @if points.len() <= 12 { @for point in points { (svg::dot(ink(side), *point, 2.5)) } }
    }
}

/// The names of the lines, each at the last point of its line that has a position.
fn names_of(lines: &[(Side, Vec<Point>)]) -> Markup {
    let end = |points: &Vec<Point>| points.iter().rev().find(|(x, y)| x.is_finite() && y.is_finite()).copied();
    let ends: Vec<(Side, Point)> = lines.iter().filter_map(|(side, points)| Some((*side, end(points)?))).collect();
    let places = spread(&ends.iter().map(|(_, end)| end.1).collect::<Vec<_>>(), (TOP, GROUND));
    html! {
        @for ((side, end), y) in ends.into_iter().zip(places) {
            (svg::text(ink(side), (end.0 + NAME_GAP, y + 4.0), None, side.name()))
        }
    }
}

fn ink(side: Side) -> &'static str {
    if side == Side::GmpWithoutSysmon { "gmp" } else { side.name() }
}

/// Positions for names that should be at `wanted`, moved apart where lines end close together:
/// within `room` if it is large enough, and in the order of `wanted`.
fn spread(wanted: &[f64], room: (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by(|&a, &b| wanted[a].total_cmp(&wanted[b]));
    let mut places = wanted.to_vec();
    let (mut free_from, mut free_to) = room;
    for &index in &order {
        places[index] = places[index].max(free_from);
        free_from = places[index] + NAME_HEIGHT;
    }
    for &index in order.iter().rev() {
        places[index] = places[index].min(free_to);
        free_to = places[index] - NAME_HEIGHT;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_moved_apart_within_the_room() {
        let room = (0.0, 100.0);
        assert_eq!(spread(&[50.0, 10.0], room), [50.0, 10.0]);
        assert_eq!(spread(&[98.0, 99.0, 97.0], room), [86.0, 100.0, 72.0]);
        assert_eq!(spread(&[1.0, 0.0], room), [14.0, 0.0]);
    }
}
