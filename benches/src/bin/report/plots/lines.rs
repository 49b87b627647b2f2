//! A panel with a few lines, each with its name at its end.
//!
//! All panels have the same size: small enough for a telephone, and a page puts as many side by
//! side as it has room for. If a drawing were scaled to the width of its page instead, its letters
//! would be too small to read on a narrow page.

use gmp_benches::side::Side;
use maud::{Markup, html};

use super::scale::Scale;
use super::style::{ink, width_of};
use super::svg::{self, Point};

/// The size and the margins of every panel.
const SIZE: (f64, f64) = (340.0, 246.0);
const TOP: f64 = 56.0;
const GROUND: f64 = SIZE.1 - 40.0;
const LEFT: f64 = 50.0;
/// The distance between the end of a line and its name.
const NAME_GAP: f64 = 8.0;
/// The distance between two names.
const NAME_HEIGHT: f64 = 14.0;

#[derive(Debug)]
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
    /// The title of the axis.
    pub(super) caption: &'static str,
    pub(super) measure: fn(f64) -> f64,
    pub(super) values: (f64, f64),
    /// The values with marks, and their labels.
    pub(super) ticks: Vec<(f64, String)>,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) side: Side,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Panel<'_> {
    /// The panel for a page; `what` is read out to readers who can't see it.
    pub(super) fn inline(&self, what: &str) -> Markup {
        let frame = Frame::new(self);
        let body = html! {
            (svg::text("ink title", (0.0, 14.0), None, self.title))
            (svg::text("faint small", (0.0, 33.0), None, self.y.caption))
            (self.axes(&frame))
            @for line in self.lines { (svg::group(line.side.name(), &line.draw(&frame))) }
            (self.names(&frame))
        };
        svg::inline(SIZE, what, &body)
    }

    fn axes(&self, Frame { x, y, right }: &Frame) -> Markup {
        let caption = (f64::midpoint(LEFT, *right), SIZE.1 - 6.0);
        html! {
            @for (at, words) in self.y.ticks.iter().map(|(tick, words)| (y.place(*tick), words)) {
                (svg::line("grid", (LEFT, at), (*right, at)))
                (svg::text("faint small", (LEFT - 6.0, at + 4.0), Some("end"), words))
            }
            @for (at, words) in self.x.ticks.iter().map(|(tick, words)| (x.place(*tick), words)) {
                (svg::line("faint", (at, GROUND), (at, GROUND + 4.0)))
                (svg::text("faint small", (at, GROUND + 16.0), Some("middle"), words))
            }
            (svg::line("faint", (LEFT, GROUND), (*right, GROUND)))
            (svg::text("faint small", caption, Some("middle"), self.x.caption))
            @if let Some((at, words)) = self.mark.as_ref().map(|(value, words)| (x.place(*value), words)) {
                (svg::line("faint dotted", (at, TOP), (at, GROUND)))
                (svg::text("faint small", (at, TOP - 4.0), Some("middle"), words))
            }
        }
    }

    fn names(&self, frame: &Frame) -> Markup {
        let ends: Vec<Point> = self.lines.iter().map(|line| line.end(frame)).collect();
        let places = spread(&ends.iter().map(|end| end.1).collect::<Vec<_>>(), (TOP, GROUND));
        html! {
            @for ((line, end), y) in self.lines.iter().zip(ends).zip(places) {
                (svg::text(ink(line.side), (end.0 + NAME_GAP, y + 4.0), None, line.side.name()))
            }
        }
    }
}

struct Frame {
    x: Scale,
    y: Scale,
    right: f64,
}

impl Frame {
    fn new(panel: &Panel<'_>) -> Self {
        let names = panel.lines.iter().map(|line| width_of(line.side.name())).fold(0.0, f64::max);
        let right = SIZE.0 - names - NAME_GAP;
        let scale = |axis: &Axis, pixels| Scale { measure: axis.measure, values: axis.values, pixels };
        Frame { x: scale(&panel.x, (LEFT + 6.0, right)), y: scale(&panel.y, (GROUND, TOP)), right }
    }

    fn place(&self, (x, y): (f64, f64)) -> Point {
        (self.x.place(x), self.y.place(y))
    }
}

impl Line {
    /// With one dot per value, as long as the dots can be distinguished.
    fn draw(&self, frame: &Frame) -> Markup {
        let points: Vec<Point> = self.points.iter().map(|point| frame.place(*point)).collect();
        let dashes = if self.side == Side::GmpWithoutSysmon { " dashed" } else { "" };
        html! {
            (svg::polyline(&format!("{}{dashes}", ink(self.side)), &points))
            @if points.len() <= 12 { @for point in points { (svg::dot(ink(self.side), point, 2.5)) } }
        }
    }

    /// The last point that has a position.
    fn end(&self, frame: &Frame) -> Point {
        let points = self.points.iter().rev().map(|point| frame.place(*point));
        points.into_iter().find(|(x, y)| x.is_finite() && y.is_finite()).unwrap_or((f64::NAN, f64::NAN))
    }
}

/// Positions for names that should be at `wanted`, moved apart where lines end close together:
/// within `room` if it is large enough, and in the order of `wanted`. NaN stays NaN: it has no
/// position.
fn spread(wanted: &[f64], room: (f64, f64)) -> Vec<f64> {
    let mut order: Vec<usize> = (0..wanted.len()).filter(|&index| wanted[index].is_finite()).collect();
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
    use super::super::scale::log;
    use super::*;

    fn panel(lines: &[Line]) -> String {
        let axis = |caption| Axis { caption, measure: log, values: (1.0, 10.0), ticks: vec![(1.0, "1".to_owned())] };
        Panel { title: "title", x: axis("x"), y: axis("y"), lines, mark: None }.inline("panel").into_string()
    }

    #[test]
    fn a_line_is_named_where_it_ends_and_a_line_of_nothing_is_neither_drawn_nor_named() {
        let points = vec![(1.0, 1.0), (10.0, 10.0), (f64::NAN, 1.0)];
        let svg = panel(&[Line { side: Side::Tokio, points }]);
        let label = format!(r#"x="{}" y="{}">tokio</text>"#, SIZE.0 - width_of("tokio"), TOP + 4.0);
        assert!(svg.contains(&label), "{label} in {svg}");
        let svg = panel(&[Line { side: Side::Gmp, points: vec![(0.0, f64::NAN), (f64::INFINITY, 0.0)] }]);
        assert!(!svg.contains("<polyline") && !svg.contains("class=\"gmp\"") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn two_lines_of_one_colour_differ_in_their_dashes() {
        let line = |side| Line { side, points: vec![(1.0, 1.0), (10.0, 10.0)] };
        let svg = panel(&[Side::Gmp, Side::GmpWithoutSysmon].map(line));
        assert!(svg.contains(r#"<polyline class="gmp""#) && svg.contains(r#"<polyline class="gmp dashed""#), "{svg}");
    }

    #[test]
    fn names_are_moved_apart_within_the_room_and_one_without_a_line_is_in_nobodys_way() {
        let room = (0.0, 100.0);
        assert_eq!(spread(&[50.0, 10.0], room), [50.0, 10.0]);
        assert_eq!(spread(&[98.0, 99.0, 97.0], room), [86.0, 100.0, 72.0]);
        assert_eq!(spread(&[1.0, 0.0], room), [14.0, 0.0]);
        let places = spread(&[f64::NAN, 5.0], room);
        assert!(places[0].is_nan() && places[1] == 5.0);
    }
}
