//! Bars of ratios: one row per workload, which shows on which side of "as fast as tokio" it is.
//!
//! A bar from zero would be as long for a row that is twice as slow as for four rows together that
//! are twice as fast, and would be invisible for a row that is twenty times as fast. On a
//! logarithmic axis with bars that begin at 1, "twice as fast" and "twice as slow" are equally long
//! and point to opposite sides, so that a losing row can't be overlooked. The numbers stand in
//! columns beside the bars, where they are not covered by a bar or a mark.

use gmp_benches::report::{mark, ratio};
use maud::{Markup, html};

use super::scale::{Scale, log, log_ticks, round_stretch};
use super::svg::{self, Point};
use super::width_of;

/// Rows that belong together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub(crate) title: String,
    pub(crate) bars: Vec<Bar>,
}

/// A row. All numbers are ratios to tokio.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bar {
    pub(crate) name: String,
    /// gmp's ratio: the bar itself.
    pub(crate) ratio: f64,
    pub(crate) limit: Option<f64>,
    pub(crate) go: Option<f64>,
    pub(crate) smol: Option<f64>,
    /// The values behind the ratio, in words: gmp's and tokio's.
    pub(crate) values: Option<[String; 2]>,
}

/// The bars for a page that has the style sheet.
pub(crate) fn inline(groups: &[Group], width: f64) -> Markup {
    let (size, body) = draw(groups, width, &[]);
    svg::inline(size, "Ratios of all workloads to tokio; the table below has the same numbers", &body)
}

/// The bars in a file of its own; `heading` is its title and the lines below it.
pub(crate) fn file(groups: &[Group], width: f64, heading: &[&str]) -> String {
    let (size, body) = draw(groups, width, heading);
    svg::file(size, heading.first().unwrap_or(&"Ratios to tokio"), &body)
}

const MARGIN: f64 = 12.0;
const ROW: f64 = 20.0;
const BAR: f64 = 12.0;
const TITLE: f64 = 26.0;
/// The width from which gmp's and tokio's values fit beside the ratio.
const WIDE: f64 = 640.0;

fn draw(groups: &[Group], width: f64, heading: &[&str]) -> ((f64, f64), Markup) {
    let chart = Chart::new(groups, width);
    let top = MARGIN + heading.len() as f64 * 20.0;
    let key = key(groups, width);
    let rows_top = top + (key.last().map_or(0.0, |(_, at)| at.1) + 28.0) + 18.0;
    let tops = groups.iter().scan(rows_top, |top, group| {
        *top += height(group);
        Some(*top - height(group))
    });
    let bottom = rows_top + groups.iter().map(height).sum::<f64>();
    let body = html! {
        @for (index, line) in heading.iter().enumerate() {
            @let class = if index == 0 { "ink title" } else { "faint" };
            (svg::text(class, (MARGIN, MARGIN + 12.0 + index as f64 * 19.0), None, line))
        }
        @for ((words, sign, _), (x, y)) in key {
            (sign((x + 7.0, y + top + 8.0)))
            (svg::text("faint", (x + 20.0, y + top + 12.0), None, words))
        }
        (chart.axis(rows_top, bottom))
        @for (group, top) in groups.iter().zip(tops) { (chart.group(group, top)) }
    };
    ((width, bottom + 40.0), body)
}

fn height(group: &Group) -> f64 {
    TITLE + group.bars.len() as f64 * ROW + 4.0
}

/// The horizontal positions, from left to right: names, bars, numbers.
struct Chart {
    bars: Scale,
    left: f64,
    right: f64,
    /// The right edges of the columns ratio, gmp and tokio; the last two only if there is room.
    columns: Vec<f64>,
}

impl Chart {
    fn new(groups: &[Group], width: f64) -> Self {
        let bars = || groups.iter().flat_map(|group| &group.bars);
        let names = bars().map(|bar| width_of(&bar.name)).fold(60.0, f64::max);
        let columns = if width < WIDE { vec![46.0] } else { vec![52.0, 74.0, 74.0] };
        let (left, right) = (MARGIN + names + 8.0, width - MARGIN - columns.iter().sum::<f64>());
        let all = bars().flat_map(|bar| [Some(bar.ratio), bar.limit, bar.go, bar.smol]).flatten();
        // The axis always contains half and double: a small difference must not fill the whole
        // width.
        let values = round_stretch(all.chain([0.5, 2.0])).unwrap_or((0.5, 2.0));
        let edges = columns.iter().scan(right, |x, column| {
            *x += column;
            Some(*x)
        });
        let bars = Scale { measure: log, values, pixels: (left, right - 4.0) };
        Chart { bars, left, right, columns: edges.collect() }
    }

    fn axis(&self, top: f64, bottom: f64) -> Markup {
        let room = ((self.right - self.left) / 34.0) as usize;
        let one = self.bars.place(1.0);
        html! {
            @for tick in log_ticks(self.bars.values, room) {
                @let x = self.bars.place(tick);
                (svg::line(if tick == 1.0 { "ink" } else { "grid" }, (x, top), (x, bottom)))
                (svg::text("faint small", (x, top - 5.0), Some("middle"), &mark(tick)))
            }
            (svg::text("faint small", (one - 8.0, bottom + 16.0), Some("end"), "← faster than tokio"))
            (svg::text("faint small", (one + 8.0, bottom + 16.0), None, "slower →"))
            @for (edge, title) in self.columns.iter().zip(["ratio", "gmp", "tokio"]) {
                (svg::text("faint small", (*edge, top - 5.0), Some("end"), title))
            }
        }
    }

    fn group(&self, group: &Group, top: f64) -> Markup {
        html! {
            (svg::text("ink strong", (MARGIN, top + 19.0), None, &group.title))
            @for (index, bar) in group.bars.iter().enumerate() {
                (svg::group(&hint(bar), &self.bar(bar, top + TITLE + (index as f64 + 0.5) * ROW)))
            }
        }
    }

    fn bar(&self, bar: &Bar, y: f64) -> Markup {
        let side = if bar.ratio > 1.0 { "tokio" } else { "gmp" };
        let place = |ratio: Option<f64>| (ratio.map_or(f64::NAN, |ratio| self.bars.place(ratio)), y);
        let (from, to) = (self.bars.place(1.0), self.bars.place(bar.ratio));
        let numbers = [ratio(bar.ratio)].into_iter().chain(bar.values.iter().flatten().cloned());
        html! {
            (svg::text("ink", (self.left - 8.0, y + 4.0), Some("end"), &bar.name))
            (svg::bar(side, (from, y - BAR / 2.0), (to, y + BAR / 2.0)))
            (limit(place(bar.limit))) (go(place(bar.go))) (smol(place(bar.smol)))
            @for (index, (edge, number)) in self.columns.iter().zip(numbers).enumerate() {
                (svg::text(if index == 0 { "ink strong" } else { "faint" }, (*edge, y + 4.0), Some("end"), &number))
            }
        }
    }
}

fn hint(bar: &Bar) -> String {
    let values = bar.values.as_ref().map_or(String::new(), |[gmp, tokio]| format!(" (gmp {gmp}, tokio {tokio})"));
    let others = [("limit", bar.limit), ("Go", bar.go), ("smol", bar.smol)];
    let others = others.map(|(name, value)| value.map_or(String::new(), |value| format!(", {name} {}", ratio(value))));
    format!("{}: {}{values}{}", bar.name, ratio(bar.ratio), others.concat())
}

fn limit((x, y): Point) -> Markup {
    let line = |class| svg::line(class, (x, y - 8.0), (x, y + 8.0));
    html! { (line("paper edge")) (line("ink heavy")) }
}

fn go(centre: Point) -> Markup {
    svg::diamond("go outlined", centre, 4.5)
}

fn smol(centre: Point) -> Markup {
    svg::dot("smol outlined", centre, 3.8)
}

fn sample(class: &str, (x, y): Point) -> Markup {
    svg::bar(class, (x - 7.0, y - 5.0), (x + 7.0, y + 5.0))
}

/// A sign, its meaning, and whether it occurs in a row.
type Sign = (&'static str, fn(Point) -> Markup, fn(&Bar) -> bool);

const SIGNS: [Sign; 5] = [
    ("gmp is faster", |at| sample("gmp", at), |bar| bar.ratio <= 1.0),
    ("tokio is faster", |at| sample("tokio", at), |bar| bar.ratio > 1.0),
    ("Go", go, |bar| bar.go.is_some()),
    ("smol", smol, |bar| bar.smol.is_some()),
    ("limit", limit, |bar| bar.limit.is_some()),
];

/// The key to the signs that occur, on as many lines as needed.
fn key(groups: &[Group], width: f64) -> Vec<(Sign, Point)> {
    let occurs = |sign: &Sign| groups.iter().flat_map(|group| &group.bars).any(sign.2);
    let mut at = (MARGIN, 0.0);
    let place = |sign: Sign| {
        let needed = 20.0 + width_of(sign.0) + 14.0;
        if at.0 + needed > width && at.0 > MARGIN {
            at = (MARGIN, at.1 + 18.0);
        }
        at.0 += needed;
        (sign, (at.0 - needed, at.1))
    };
    SIGNS.into_iter().filter(occurs).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, ratio: f64) -> Bar {
        Bar { name: name.to_owned(), ratio, ..Bar::default() }
    }

    fn drawn(bars: Vec<Bar>) -> String {
        inline(&[Group { title: "group".to_owned(), bars }], 340.0).into_string()
    }

    #[test]
    fn a_row_that_was_not_measured_has_a_name_and_a_dash() {
        for nothing in [f64::NAN, 0.0, f64::INFINITY] {
            let svg = drawn(vec![bar("row", nothing), bar("other", 0.5)]);
            assert!(svg.contains(">row</text>") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        assert!(drawn(vec![bar("row", f64::NAN)]).contains(">–</text>"));
    }

    #[test]
    fn a_slower_row_is_on_the_other_side_of_one() {
        let svg = drawn(vec![bar("fast", 0.5), bar("slow", 2.0)]);
        let rect = |class: &str| {
            let rect = svg.split("<rect").filter(|it| it.contains(&format!("class=\"{class}\""))).nth(1).unwrap();
            ["x", "width"].map(|name| -> f64 {
                let (_, rest) = rect.split_once(&format!(" {name}=\"")).unwrap();
                rest.split_once('"').unwrap().0.parse().unwrap()
            })
        };
        let ([fast, fast_width], [slow, slow_width]) = (rect("gmp"), rect("tokio"));
        assert!((fast + fast_width - slow).abs() < 0.2 && (fast_width - slow_width).abs() < 0.2, "{svg}");
    }
}
