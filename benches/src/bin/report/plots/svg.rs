//! The shapes of a drawing.
//!
//! Measured data has gaps: a row that was not run, or a median of zero, which has no logarithm. A
//! shape with a coordinate that isn't a number is not drawn: some viewers would show nothing at all
//! of a file with `NaN` in it.

use maud::{Markup, PreEscaped, html};

use super::SHEET;

/// A point of the drawing: right and down from the upper left corner, in pixels.
pub(super) type Point = (f64, f64);

/// A box between two corners, in either order.
pub(super) fn bar(class: &str, a: Point, b: Point) -> Markup {
    let (x, y) = (number(a.0.min(b.0)), number(a.1.min(b.1)));
    let (width, height) = (number((a.0 - b.0).abs()), number((a.1 - b.1).abs()));
    placed(&[a, b], html! { rect class=(class) x=(x) y=(y) width=(width) height=(height) rx="1.5" {} })
}

pub(super) fn line(class: &str, a: Point, b: Point) -> Markup {
    let [x1, y1, x2, y2] = [a.0, a.1, b.0, b.1].map(number);
    placed(&[a, b], html! { line class=(class) x1=(x1) y1=(y1) x2=(x2) y2=(y2) {} })
}

/// A line through all points that have a position; it continues after a gap.
pub(super) fn polyline(class: &str, points: &[Point]) -> Markup {
    let drawn: Vec<Point> = points.iter().copied().filter(|point| is_finite(&[*point])).collect();
    html! { @if drawn.len() > 1 { polyline class=(class) points=(list(&drawn)) {} } }
}

pub(super) fn dot(class: &str, centre: Point, radius: f64) -> Markup {
    let [x, y, radius] = [centre.0, centre.1, radius].map(number);
    placed(&[centre], html! { circle class=(class) cx=(x) cy=(y) r=(radius) {} })
}

pub(super) fn diamond(class: &str, (x, y): Point, radius: f64) -> Markup {
    let corners = [(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)];
    placed(&corners, html! { polygon class=(class) points=(list(&corners)) {} })
}

/// A text; `point` is on its base line, at its start, its `middle` or its `end`.
pub(super) fn text(class: &str, point: Point, anchor: Option<&str>, text: &str) -> Markup {
    let [x, y] = [point.0, point.1].map(number);
    // XML can't represent control characters.
    let text = text.replace(|it: char| it.is_control() && !matches!(it, '\n' | '\t'), "\u{fffd}");
    placed(&[point], html! { text class=(class) x=(x) y=(y) text-anchor=[anchor] { (text) } })
}

/// Shapes in a group; a pointer that rests on the group shows `hint`.
pub(super) fn group(hint: &str, shapes: &Markup) -> Markup {
    html! { g { title { (hint) } (shapes) } }
}

/// A drawing in a page that has the style sheet; `title` is read out to readers who can't see it.
pub(super) fn inline((width, height): (f64, f64), title: &str, body: &Markup) -> Markup {
    let [width, height] = [width, height].map(number);
    let view = format!("0 0 {width} {height}");
    html! { svg.plot width=(width) height=(height) viewBox=(view) role="img" aria-label=(title) { (body) } }
}

/// A drawing as a file of its own, with a background, so that it is readable on any page. Inside an
/// `<img>`, the reader's system decides between light and dark, and the page may differ from it.
pub(super) fn file((width, height): (f64, f64), title: &str, body: &Markup) -> String {
    let [width, height] = [width, height].map(number);
    let view = format!("0 0 {width} {height}");
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="plot" width=(width) height=(height) viewBox=(view) role="img" {
            title { (title) }
            style { (PreEscaped(SHEET)) }
            rect.paper width="100%" height="100%" rx="8" {}
            (body)
        }
    };
    svg.into_string().replace("><g>", ">\n<g>") + "\n"
}

fn placed(points: &[Point], shape: Markup) -> Markup {
    if is_finite(points) { shape } else { PreEscaped(String::new()) }
}

fn is_finite(points: &[Point]) -> bool {
    points.iter().all(|(x, y)| x.is_finite() && y.is_finite())
}

fn list(points: &[Point]) -> String {
    points.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect::<Vec<_>>().join(" ")
}

/// A tenth of a pixel is the smallest visible difference.
fn number(value: f64) -> f64 {
    (value * 10.0).round() / 10.0 + 0.0 // -0 becomes 0
}
