//! A panel with a few lines, each with its name at its end.
//!
//! All panels have the same size: small enough for a telephone, and a page puts as many side by
//! side as it has room for. If a drawing were scaled to the width of its page instead, its letters
//! would be too small to read on a narrow page.

use gmp_benches::side::Side;

use super::ink;
use super::labels::spread;
use super::scale::Scale;
use super::style::width_of;
use super::svg::{Anchor, Point, Svg};

/// The size and the margins of every panel.
const SIZE: (f64, f64) = (340.0, 246.0);
const TOP: f64 = 56.0;
const BOTTOM: f64 = 40.0;
const LEFT: f64 = 50.0;
/// The distance between the end of a line and its name.
const NAME_GAP: f64 = 8.0;

/// The contents of a panel.
#[derive(Debug)]
pub(super) struct Panel<'a> {
    pub(super) title: &'a str,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
    /// A value on the x axis to be marked, and the label of the mark.
    pub(super) mark: Option<(f64, String)>,
}

/// An axis without its pixels, which only the panel knows.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    /// The title of the axis.
    pub(super) caption: String,
    pub(super) scale: fn((f64, f64), (f64, f64)) -> Scale,
    pub(super) values: (f64, f64),
    /// The values with marks, and their labels.
    pub(super) ticks: Vec<(f64, String)>,
}

/// The values of one side.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) side: Side,
    pub(crate) points: Vec<(f64, f64)>,
}

impl Panel<'_> {
    pub(super) fn draw(&self) -> Svg {
        let mut svg = Svg::new(SIZE.0, SIZE.1);
        let frame = Frame::new(self);
        svg.text("ink title", (0.0, 14.0), Anchor::Start, self.title);
        svg.text("faint small", (0.0, 33.0), Anchor::Start, &self.y.caption);
        self.axes(&mut svg, &frame);
        for line in &self.lines {
            svg.group(line.side.name(), |svg| line.draw(svg, &frame));
        }
        self.labels(&mut svg, &frame);
        svg
    }

    fn axes(&self, svg: &mut Svg, frame: &Frame) {
        for (tick, words) in &self.y.ticks {
            let y = frame.y.place(*tick);
            svg.line("grid", (LEFT, y), (frame.right, y));
            svg.text("faint small", (LEFT - 6.0, y + 4.0), Anchor::End, words);
        }
        let ground = SIZE.1 - BOTTOM;
        for (tick, words) in &self.x.ticks {
            let x = frame.x.place(*tick);
            svg.line("faint", (x, ground), (x, ground + 4.0));
            svg.text("faint small", (x, ground + 16.0), Anchor::Middle, words);
        }
        svg.line("faint", (LEFT, ground), (frame.right, ground));
        svg.text("faint small", (f64::midpoint(LEFT, frame.right), SIZE.1 - 6.0), Anchor::Middle, &self.x.caption);
        if let Some((value, words)) = &self.mark {
            let x = frame.x.place(*value);
            svg.line("faint dotted", (x, TOP), (x, ground));
            svg.text("faint small", (x, TOP - 4.0), Anchor::Middle, words);
        }
    }

    fn labels(&self, svg: &mut Svg, frame: &Frame) {
        let ends: Vec<Point> = self.lines.iter().map(|line| line.end(frame)).collect();
        let wanted: Vec<f64> = ends.iter().map(|end| end.1).collect();
        let places = spread(&wanted, 14.0, (TOP, SIZE.1 - BOTTOM));
        for ((line, end), y) in self.lines.iter().zip(ends).zip(places) {
            svg.text(ink(line.side), (end.0 + NAME_GAP, y + 4.0), Anchor::Start, line.side.name());
        }
    }
}

/// The area of the lines.
struct Frame {
    x: Scale,
    y: Scale,
    right: f64,
}

impl Frame {
    fn new(panel: &Panel<'_>) -> Self {
        let names = panel.lines.iter().map(|line| width_of(line.side.name())).fold(0.0, f64::max);
        let right = SIZE.0 - names - NAME_GAP;
        let (x, y) = ((panel.x.scale)(panel.x.values, (LEFT + 6.0, right)), SIZE.1 - BOTTOM);
        Frame { x, y: (panel.y.scale)(panel.y.values, (y, TOP)), right }
    }

    fn place(&self, (x, y): (f64, f64)) -> Point {
        (self.x.place(x), self.y.place(y))
    }
}

impl Line {
    fn draw(&self, svg: &mut Svg, frame: &Frame) {
        let points: Vec<Point> = self.points.iter().map(|point| frame.place(*point)).collect();
        let dashes = if self.side == Side::GmpWithoutSysmon { " dashed" } else { "" };
        svg.polyline(&format!("{}{dashes}", ink(self.side)), &points);
        // One dot per value, as long as the dots can be distinguished.
        for point in points.into_iter().filter(|_| self.points.len() <= 12) {
            svg.dot(ink(self.side), point, 2.5);
        }
    }

    /// The last point that has a position.
    fn end(&self, frame: &Frame) -> Point {
        let points = self.points.iter().rev().map(|point| frame.place(*point));
        points.into_iter().find(|(x, y)| x.is_finite() && y.is_finite()).unwrap_or((f64::NAN, f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(caption: &str) -> Axis {
        let ticks = vec![(1.0, "1".to_owned()), (10.0, "10".to_owned())];
        Axis { caption: caption.to_owned(), scale: Scale::log, values: (1.0, 10.0), ticks }
    }

    fn panel(lines: Vec<Line>) -> String {
        Panel { title: "title", x: axis("x"), y: axis("y"), lines, mark: None }.draw().inline("panel")
    }

    #[test]
    fn a_line_is_named_where_it_ends() {
        let svg = panel(vec![Line { side: Side::Tokio, points: vec![(1.0, 1.0), (10.0, 10.0), (f64::NAN, 1.0)] }]);
        let name_at = SIZE.0 - width_of("tokio");
        let label = format!(r#"<text class="tokio" x="{}" y="{}">tokio</text>"#, name_at, TOP + 4.0);
        assert!(svg.contains(&label), "{label} in {svg}");
    }

    #[test]
    fn a_line_of_nothing_is_neither_drawn_nor_named() {
        let svg = panel(vec![Line { side: Side::Gmp, points: vec![(0.0, f64::NAN), (f64::INFINITY, 0.0)] }]);
        assert!(!svg.contains("<polyline") && !svg.contains("class=\"gmp\"") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn two_lines_of_one_colour_differ_in_their_dashes() {
        let points = vec![(1.0, 1.0), (10.0, 10.0)];
        let lines = [Side::Gmp, Side::GmpWithoutSysmon].map(|side| Line { side, points: points.clone() });
        let svg = panel(lines.into());
        assert!(svg.contains(r#"<polyline class="gmp""#) && svg.contains(r#"<polyline class="gmp dashed""#), "{svg}");
    }
}
