//! Bars of ratios: one row per workload, which shows on which side of "as fast as tokio" it is.
//!
//! A bar from zero would be as long for a row that is twice as slow as for four rows together that
//! are twice as fast, and would be invisible for a row that is twenty times as fast. On a
//! logarithmic axis with bars that begin at 1, "twice as fast" and "twice as slow" are equally long
//! and point to opposite sides, so that a losing row can't be overlooked. The numbers stand in
//! columns beside the bars, where they are not covered by a bar or a mark.

mod signs;

use self::signs::{go, key, limit, smol};
use super::quantity::{mark, ratio};
use super::scale::{Scale, log_ticks, round_stretch};
use super::style::width_of;
use super::svg::{Anchor, Svg};

/// Rows that belong together.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    /// The heading; none if empty.
    pub(crate) title: String,
    /// The rows, from the top.
    pub(crate) bars: Vec<Bar>,
}

/// A row. All numbers are ratios to tokio.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bar {
    /// The workload.
    pub(crate) name: String,
    /// gmp's ratio: the bar itself.
    pub(crate) ratio: f64,
    /// The limit.
    pub(crate) limit: Option<f64>,
    /// Go's ratio.
    pub(crate) go: Option<f64>,
    /// smol's ratio.
    pub(crate) smol: Option<f64>,
    /// The values behind the ratio, in words: gmp's and tokio's.
    pub(crate) values: Option<[String; 2]>,
}

/// The bars for a page that has the style sheet.
pub(crate) fn inline(groups: &[Group], width: f64) -> String {
    draw(groups, width, &[]).inline("Ratios of all workloads to tokio; the table below has the same numbers")
}

/// The bars in a file of its own; `heading` is its title and the lines below it.
pub(crate) fn file(groups: &[Group], width: f64, heading: &[&str]) -> String {
    draw(groups, width, heading).file(heading.first().unwrap_or(&"Ratios to tokio"))
}

const MARGIN: f64 = 12.0;
const ROW: f64 = 20.0;
const BAR: f64 = 12.0;
/// The width from which gmp's and tokio's values fit beside the ratio.
const WIDE: f64 = 640.0;

fn draw(groups: &[Group], width: f64, heading: &[&str]) -> Svg {
    let chart = Chart::new(groups, width);
    let top = MARGIN + heading.len() as f64 * 20.0;
    let key = key(groups, width);
    let rows_top = top + (key.last().map_or(0.0, |entry| entry.at.1) + 28.0) + 18.0;
    let rows_height: f64 = groups.iter().map(height).sum();

    let mut svg = Svg::new(width, rows_top + rows_height + 40.0);
    for (index, line) in heading.iter().enumerate() {
        let class = if index == 0 { "ink title" } else { "faint" };
        svg.text(class, (MARGIN, MARGIN + 12.0 + index as f64 * 19.0), Anchor::Start, line);
    }
    for entry in key {
        entry.draw(&mut svg, top);
    }
    chart.axis(&mut svg, rows_top, rows_top + rows_height);
    let mut y = rows_top;
    for group in groups {
        chart.group(&mut svg, group, y);
        y += height(group);
    }
    svg
}

fn height(group: &Group) -> f64 {
    let title = if group.title.is_empty() { 0.0 } else { 26.0 };
    title + group.bars.len() as f64 * ROW + 4.0
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
        let stretch = round_stretch(all.chain([0.5, 2.0])).unwrap_or((0.5, 2.0));
        let edges = columns.iter().scan(right, |x, column| {
            *x += column;
            Some(*x)
        });
        Chart { bars: Scale::log(stretch, (left, right - 4.0)), left, right, columns: edges.collect() }
    }

    fn axis(&self, svg: &mut Svg, top: f64, bottom: f64) {
        let room = ((self.right - self.left) / 34.0) as usize;
        for tick in log_ticks(self.bars.values(), room) {
            let x = self.bars.place(tick);
            let class = if tick == 1.0 { "ink" } else { "grid" };
            svg.line(class, (x, top), (x, bottom));
            svg.text("faint small", (x, top - 5.0), Anchor::Middle, &mark(tick));
        }
        let one = self.bars.place(1.0);
        svg.text("faint small", (one - 8.0, bottom + 16.0), Anchor::End, "← faster than tokio");
        svg.text("faint small", (one + 8.0, bottom + 16.0), Anchor::Start, "slower →");
        for (edge, title) in self.columns.iter().zip(["ratio", "gmp", "tokio"]) {
            svg.text("faint small", (*edge, top - 5.0), Anchor::End, title);
        }
    }

    fn group(&self, svg: &mut Svg, group: &Group, top: f64) {
        let mut y = top;
        if !group.title.is_empty() {
            svg.text("ink strong", (MARGIN, y + 19.0), Anchor::Start, &group.title);
            y += 26.0;
        }
        for bar in &group.bars {
            svg.group(&hint(bar), |svg| self.bar(svg, bar, y + ROW / 2.0));
            y += ROW;
        }
    }

    fn bar(&self, svg: &mut Svg, bar: &Bar, y: f64) {
        let side = if bar.ratio > 1.0 { "tokio" } else { "gmp" };
        let place = |ratio: Option<f64>| (ratio.map_or(f64::NAN, |ratio| self.bars.place(ratio)), y);
        svg.text("ink", (self.left - 8.0, y + 4.0), Anchor::End, &bar.name);
        svg.bar(side, (self.bars.place(1.0), y - BAR / 2.0), (self.bars.place(bar.ratio), y + BAR / 2.0));
        limit(svg, place(bar.limit));
        go(svg, place(bar.go));
        smol(svg, place(bar.smol));
        let numbers = [ratio(bar.ratio)].into_iter().chain(bar.values.iter().flatten().cloned());
        for (index, (edge, number)) in self.columns.iter().zip(numbers).enumerate() {
            let class = if index == 0 { "ink strong" } else { "faint" };
            svg.text(class, (*edge, y + 4.0), Anchor::End, &number);
        }
    }
}

fn hint(bar: &Bar) -> String {
    let values = bar.values.as_ref().map_or(String::new(), |[gmp, tokio]| format!(" (gmp {gmp}, tokio {tokio})"));
    let others = [("limit", bar.limit), ("Go", bar.go), ("smol", bar.smol)];
    let others = others.map(|(name, value)| value.map_or(String::new(), |value| format!(", {name} {}", ratio(value))));
    format!("{}: {}{values}{}", bar.name, ratio(bar.ratio), others.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, ratio: f64) -> Bar {
        Bar { name: name.to_owned(), ratio, ..Bar::default() }
    }

    fn drawn(bars: Vec<Bar>) -> String {
        inline(&[Group { title: "group".to_owned(), bars }], 340.0)
    }

    #[test]
    fn a_missing_column_draws_nothing() {
        let without = drawn(vec![bar("row", 0.5)]);
        assert!(!["circle", "polygon", "smol", "Go", "limit"].iter().any(|sign| without.contains(sign)), "{without}");
        let with = drawn(vec![Bar { go: Some(0.8), ..bar("row", 0.5) }]);
        // One sign in the key and one in the row.
        assert_eq!(with.matches("<polygon").count(), 2);
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
        let x_of = |class: &str| {
            let rect = svg.lines().filter(|line| line.contains(&format!("rect class=\"{class}\""))).nth(1).unwrap();
            let number = |name: &str| -> f64 {
                let (_, rest) = rect.split_once(&format!(" {name}=\"")).unwrap();
                rest.split_once('"').unwrap().0.parse().unwrap()
            };
            (number("x"), number("width"))
        };
        let ((fast, fast_width), (slow, slow_width)) = (x_of("gmp"), x_of("tokio"));
        assert!((fast + fast_width - slow).abs() < 0.2 && (fast_width - slow_width).abs() < 0.2, "{svg}");
    }

    #[test]
    fn nothing_at_all_is_an_empty_drawing() {
        assert!(inline(&[], 340.0).starts_with("<svg"));
    }

    #[test]
    fn a_file_brings_its_style_and_its_name() {
        let svg = file(&[], 340.0, &["a < b", "more"]);
        assert!(svg.contains("xmlns") && svg.contains("<style>") && svg.contains("<title>a &lt; b</title>"), "{svg}");
    }
}
