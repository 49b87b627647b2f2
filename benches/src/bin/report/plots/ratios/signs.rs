//! The signs on the bars, and the key that explains them.

use super::{Bar, Group, MARGIN};
use crate::plots::style::width_of;
use crate::plots::svg::{Anchor, Point, Svg};

pub(super) fn limit(svg: &mut Svg, (x, y): Point) {
    svg.line("paper edge", (x, y - 8.0), (x, y + 8.0));
    svg.line("ink heavy", (x, y - 8.0), (x, y + 8.0));
}

pub(super) fn go(svg: &mut Svg, centre: Point) {
    svg.diamond("go outlined", centre, 4.5);
}

pub(super) fn smol(svg: &mut Svg, centre: Point) {
    svg.dot("smol outlined", centre, 3.8);
}

/// A sign that occurs in the drawing, and its meaning.
pub(super) struct Entry {
    pub(super) at: Point,
    words: &'static str,
    sign: fn(&mut Svg, Point),
}

/// The key to the signs that occur, on as many lines as needed.
pub(super) fn key(groups: &[Group], width: f64) -> Vec<Entry> {
    type Sign = (&'static str, fn(&mut Svg, Point), fn(&Bar) -> bool);
    const SIGNS: [Sign; 5] = [
        ("gmp is faster", |svg, at| sample(svg, "gmp", at), |bar| bar.ratio <= 1.0),
        ("tokio is faster", |svg, at| sample(svg, "tokio", at), |bar| bar.ratio > 1.0),
        ("Go", go, |bar| bar.go.is_some()),
        ("smol", smol, |bar| bar.smol.is_some()),
        ("limit", limit, |bar| bar.limit.is_some()),
    ];
    let bars: Vec<&Bar> = groups.iter().flat_map(|group| &group.bars).collect();
    let occurring = SIGNS.into_iter().filter(|(_, _, occurs)| bars.iter().any(|bar| occurs(bar)));
    let mut at = (MARGIN, 0.0);
    let place = |(words, sign, _): Sign| {
        let needed = 20.0 + width_of(words) + 14.0;
        if at.0 + needed > width && at.0 > MARGIN {
            at = (MARGIN, at.1 + 18.0);
        }
        let entry = Entry { at, words, sign };
        at.0 += needed;
        entry
    };
    occurring.map(place).collect()
}

impl Entry {
    pub(super) fn draw(self, svg: &mut Svg, top: f64) {
        let (x, y) = (self.at.0, self.at.1 + top + 12.0);
        (self.sign)(svg, (x + 7.0, y - 4.0));
        svg.text("faint", (x + 20.0, y), Anchor::Start, self.words);
    }
}

fn sample(svg: &mut Svg, class: &str, (x, y): Point) {
    svg.bar(class, (x - 7.0, y - 5.0), (x + 7.0, y + 5.0));
}
