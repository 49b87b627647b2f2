//! A drawing of lines, boxes and words, as text.
//!
//! Measured data has gaps: a row that was not run, or a median of zero, which has no logarithm. The
//! rule is that a shape with a coordinate that isn't a number is not drawn. The rule is applied
//! here, where all shapes pass, instead of in every plot. Some viewers would show nothing at all of
//! a file with `NaN` in it.

use std::fmt::Write;

use super::style;

/// A point of the drawing: right and down from the upper left corner, in pixels.
pub(super) type Point = (f64, f64);

/// The drawing so far.
#[derive(Debug)]
pub(super) struct Svg {
    width: f64,
    height: f64,
    body: String,
}

/// The part of a text that is aligned with its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Svg { width, height, body: String::new() }
    }

    /// A box between two corners, in either order.
    pub(super) fn bar(&mut self, class: &str, a: Point, b: Point) {
        if finite(&[a, b]) {
            let (x, y) = (number(a.0.min(b.0)), number(a.1.min(b.1)));
            let (width, height) = (number((a.0 - b.0).abs()), number((a.1 - b.1).abs()));
            self.push(&format!(
                r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}" rx="1.5"/>"#
            ));
        }
    }

    pub(super) fn line(&mut self, class: &str, a: Point, b: Point) {
        if finite(&[a, b]) {
            let [x1, y1, x2, y2] = [a.0, a.1, b.0, b.1].map(number);
            self.push(&format!(r#"<line class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#));
        }
    }

    /// A line through all points that have a position; it continues after a gap.
    pub(super) fn polyline(&mut self, class: &str, points: &[Point]) {
        let drawn: Vec<String> = points
            .iter()
            .filter(|point| finite(&[**point]))
            .map(|(x, y)| format!("{},{}", number(*x), number(*y)))
            .collect();
        if drawn.len() > 1 {
            self.push(&format!(r#"<polyline class="{class}" points="{}"/>"#, drawn.join(" ")));
        }
    }

    pub(super) fn dot(&mut self, class: &str, centre: Point, radius: f64) {
        if finite(&[centre]) {
            let [x, y, radius] = [centre.0, centre.1, radius].map(number);
            self.push(&format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="{radius}"/>"#));
        }
    }

    pub(super) fn diamond(&mut self, class: &str, centre: Point, radius: f64) {
        if finite(&[centre]) {
            let (x, y) = centre;
            let corners = [(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)];
            let corners = corners.map(|(x, y)| format!("{},{}", number(x), number(y)));
            self.push(&format!(r#"<polygon class="{class}" points="{}"/>"#, corners.join(" ")));
        }
    }

    /// `point` is on the text's base line.
    pub(super) fn text(&mut self, class: &str, point: Point, anchor: Anchor, text: &str) {
        if finite(&[point]) {
            let [x, y] = [point.0, point.1].map(number);
            let anchor = match anchor {
                Anchor::Start => "",
                Anchor::Middle => r#" text-anchor="middle""#,
                Anchor::End => r#" text-anchor="end""#,
            };
            self.push(&format!(r#"<text class="{class}" x="{x}" y="{y}"{anchor}>{}</text>"#, escape(text)));
        }
    }

    /// Groups the shapes of `draw`; a pointer that rests on the group shows `hint`.
    pub(super) fn group(&mut self, hint: &str, draw: impl FnOnce(&mut Svg)) {
        self.push(&format!("<g><title>{}</title>", escape(hint)));
        draw(self);
        self.push("</g>");
    }

    /// The drawing as a part of a page that has the style sheet; `title` is read out to readers who
    /// can't see it.
    pub(super) fn inline(&self, title: &str) -> String {
        let (size, title) = (self.size(), escape(title));
        format!("<svg class=\"plot\" {size} role=\"img\" aria-label=\"{title}\">\n{}</svg>\n", self.body)
    }

    /// The drawing as a file of its own, with a background, so that it is readable on any page.
    /// Inside an `<img>`, the reader's system decides between light and dark, and the page may
    /// differ from it.
    pub(super) fn file(&self, title: &str) -> String {
        let (size, title, style) = (self.size(), escape(title), style::sheet());
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" {size} role=\"img\">\n<title>{title}</title>\n\
             <style>\n{style}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\" rx=\"8\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn size(&self) -> String {
        let (width, height) = (number(self.width), number(self.height));
        format!(r#"width="{width}" height="{height}" viewBox="0 0 {width} {height}""#)
    }

    fn push(&mut self, element: &str) {
        writeln!(self.body, "{element}").expect("a string can be written to");
    }
}

/// Escapes text between tags and in quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML can't represent the other control characters.
            _ if character.is_control() && !matches!(character, '\n' | '\t') => escaped.push('\u{fffd}'),
            _ => escaped.push(character),
        }
    }
    escaped
}

fn finite(points: &[Point]) -> bool {
    points.iter().all(|(x, y)| x.is_finite() && y.is_finite())
}

/// A tenth of a pixel is the smallest visible difference.
fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    format!("{}", tenths + 0.0) // -0 becomes 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_name_stays_a_name() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.text("name", (0.0, 0.0), Anchor::Start, r#"<b a="1">&'"#);
        assert!(svg.inline("t").contains("&lt;b a=&quot;1&quot;&gt;&amp;&#39;</text>"));
        assert_eq!(escape("a\u{0}b"), "a\u{fffd}b");
    }

    #[test]
    fn a_shape_that_is_nowhere_is_not_drawn() {
        let mut svg = Svg::new(10.0, 10.0);
        let nowhere = (f64::NAN, 1.0);
        svg.bar("bar", (f64::INFINITY, 0.0), (1.0, 1.0));
        svg.line("line", (0.0, 0.0), nowhere);
        svg.dot("dot", nowhere, 1.0);
        svg.diamond("diamond", nowhere, 1.0);
        svg.text("text", nowhere, Anchor::End, "x");
        svg.polyline("polyline", &[nowhere, (1.0, 1.0), nowhere]);
        assert_eq!(svg.body, "");
    }

    #[test]
    fn a_line_goes_on_after_a_hole() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.polyline("l", &[(0.0, 0.0), (1.0, f64::NAN), (2.25, 3.0)]);
        assert!(svg.body.contains(r#"points="0,0 2.3,3""#), "{}", svg.body);
    }

    #[test]
    fn a_bar_may_be_drawn_to_either_side() {
        let mut svg = Svg::new(10.0, 10.0);
        svg.bar("b", (9.0, 5.0), (2.0, 1.0));
        assert!(svg.body.contains(r#"x="2" y="1" width="7" height="4""#), "{}", svg.body);
    }
}
