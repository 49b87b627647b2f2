//! Bars of ratios: one row per workload, which shows on which side of "as fast as tokio" it is.
//!
//! A bar from zero would be invisible for a row that is twenty times as fast. On a logarithmic axis
//! with bars that begin at 1, "twice as fast" and "twice as slow" are equally long and point to
//! opposite sides, so that a losing row can't be overlooked. The numbers stand beside the bars,
//! where nothing covers them.

use gmp_benches::report::{Line as Row, grouped, mark, quantity, ratio};
use gmp_benches::workloads::Group;
use maud::{Markup, html};

use super::scale::{Scale, log, log_ticks, round_stretch};
use super::svg::{self, Point};
use super::width_of;

/// For a telephone, a window beside another one, and a whole screen: the page shows what fits.
const WIDTHS: [(&str, f64); 3] = [("narrow", 340.0), ("medium", 660.0), ("wide", 1040.0)];

/// The largest width that fits beside the text of a README.
const README_WIDTH: f64 = 830.0;

pub(crate) fn bars(rows: &[Row]) -> Markup {
    let mean = Row::mean(rows);
    let groups = groups(rows, mean.as_ref());
    let drawing = |width| {
        let (size, body) = draw(&groups, width, &SIGNS, &[]);
        svg::inline(size, "Ratios of all workloads to tokio; the table below has the same numbers", &body)
    };
    html! { @for (class, width) in WIDTHS { div class=(class) { (drawing(width)) } } }
}

/// The bars in a file of its own; `heading` is its title and the line below it. Limits are left
/// out: they inform only developers of gmp.
pub(crate) fn file(rows: &[Row], heading: [&str; 2]) -> String {
    let mean = Row::mean(rows);
    let (size, body) = draw(&groups(rows, mean.as_ref()), README_WIDTH, &SIGNS[1..], &heading);
    svg::file(size, heading[0], &body)
}

type Bars<'a> = (&'static str, Vec<&'a Row>);

/// The geometric mean stands below its rows.
fn groups<'a>(rows: &'a [Row], mean: Option<&'a Row>) -> Vec<Bars<'a>> {
    let groups = grouped(rows.iter().chain(mean), Row::group).into_iter();
    groups.map(|(group, rows)| (title(group), rows)).collect()
}

fn title(group: Group) -> &'static str {
    match group {
        Group::Scheduler => "Scheduler",
        Group::Shared => "Tasks that share a channel or a lock",
        Group::Start => "Starting a runtime",
        Group::Blocking => "Closures that may block",
        Group::Time => "Timers",
        Group::Io => "Sockets and files",
        Group::Memory => "Memory",
    }
}

/// A mark in a row: its name, how it is drawn, and the ratio to tokio that it shows.
type Sign = (&'static str, Draw, fn(&Row) -> Option<f64>);

type Draw = fn(Point) -> Markup;

const SIGNS: [Sign; 3] = [
    ("limit", limit, Row::limit),
    ("Go", |at| svg::diamond("go outlined", at, 4.5), |row| over_tokio(row, row.go)),
    ("smol", |at| svg::dot("smol outlined", at, 3.8), |row| over_tokio(row, row.smol)),
];

fn over_tokio(row: &Row, value: Option<f64>) -> Option<f64> {
    value.filter(|_| !row.is_mean()).map(|value| value / row.tokio)
}

fn limit((x, y): Point) -> Markup {
    let line = |class| svg::line(class, (x, y - 8.0), (x, y + 8.0));
    html! { (line("paper edge")) (line("ink heavy")) }
}

const MARGIN: f64 = 12.0;
const ROW: f64 = 20.0;
const BAR: f64 = 12.0;
const TITLE: f64 = 26.0;
/// The width from which gmp's and tokio's values fit beside the ratio.
const WIDE: f64 = 640.0;

fn draw(groups: &[Bars<'_>], width: f64, signs: &[Sign], heading: &[&str]) -> ((f64, f64), Markup) {
    let chart = Chart::new(groups, width, signs);
    let top = MARGIN + heading.len() as f64 * 20.0;
    let key = key(groups, width, signs);
    let rows_top = top + (key.last().map_or(0.0, |(.., at)| at.1) + 28.0) + 18.0;
    let top_of = |index: usize| rows_top + groups[..index].iter().map(height).sum::<f64>();
    let bottom = top_of(groups.len());
    let body = html! {
        @for (index, line) in heading.iter().enumerate() {
            @let class = if index == 0 { "ink title" } else { "faint" };
            (svg::text(class, (MARGIN, MARGIN + 12.0 + index as f64 * 19.0), None, line))
        }
        @for (words, sign, (x, y)) in key {
            (sign((x + 7.0, y + top + 8.0)))
            (svg::text("faint", (x + 20.0, y + top + 12.0), None, words))
        }
        (chart.axis(rows_top, bottom))
        @for (index, group) in groups.iter().enumerate() { (chart.group(group, top_of(index))) }
    };
    ((width, bottom + 40.0), body)
}

fn height((_, rows): &Bars<'_>) -> f64 {
    TITLE + rows.len() as f64 * ROW + 4.0
}

struct Chart<'a> {
    signs: &'a [Sign],
    bars: Scale,
    left: f64,
    right: f64,
    /// The right edges of the columns ratio, gmp and tokio; the last two only if there is room.
    columns: Vec<f64>,
}

impl<'a> Chart<'a> {
    fn new(groups: &[Bars<'_>], width: f64, signs: &'a [Sign]) -> Self {
        let rows = || groups.iter().flat_map(|(_, rows)| rows);
        let names = rows().map(|row| width_of(row.name())).fold(60.0, f64::max);
        let columns = if width < WIDE { vec![46.0] } else { vec![52.0, 126.0, 200.0] };
        let (left, right) = (MARGIN + names + 8.0, width - MARGIN - columns[columns.len() - 1]);
        let marked = rows().flat_map(|row| signs.iter().filter_map(|sign| sign.2(row)));
        let all = rows().map(|row| row.ratio()).chain(marked);
        // Half and double are always on the axis: a small difference must not fill the whole width.
        let values = round_stretch(all.chain([0.5, 2.0])).unwrap_or((0.5, 2.0));
        let bars = Scale { measure: log, values, pixels: (left, right - 4.0) };
        Chart { signs, bars, left, right, columns: columns.into_iter().map(|edge| right + edge).collect() }
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

    fn group(&self, (title, rows): &Bars<'_>, top: f64) -> Markup {
        html! {
            (svg::text("ink strong", (MARGIN, top + 19.0), None, title))
            @for (index, row) in rows.iter().enumerate() {
                (svg::group(&self.hint(row), &self.bar(row, top + TITLE + (index as f64 + 0.5) * ROW)))
            }
        }
    }

    fn bar(&self, row: &Row, y: f64) -> Markup {
        let side = if row.ratio() > 1.0 { "tokio" } else { "gmp" };
        let (from, to) = (self.bars.place(1.0), self.bars.place(row.ratio()));
        let values = [row.gmp, row.tokio].into_iter().filter(|_| !row.is_mean());
        let numbers = [ratio(row.ratio())].into_iter().chain(values.map(|value| quantity(value, &row.unit)));
        html! {
            (svg::text("ink", (self.left - 8.0, y + 4.0), Some("end"), row.name()))
            (svg::bar(side, (from, y - BAR / 2.0), (to, y + BAR / 2.0)))
            @for (value, sign) in self.signs.iter().filter_map(|sign| Some((sign.2(row)?, sign.1))) {
                (sign((self.bars.place(value), y)))
            }
            @for (index, (edge, number)) in self.columns.iter().zip(numbers).enumerate() {
                (svg::text(if index == 0 { "ink strong" } else { "faint" }, (*edge, y + 4.0), Some("end"), &number))
            }
        }
    }

    fn hint(&self, row: &Row) -> String {
        let marks = self.signs.iter().filter_map(|sign| Some(format!(", {} {}", sign.0, ratio(sign.2(row)?))));
        format!("{}: {}{}", row.name(), ratio(row.ratio()), marks.collect::<String>())
    }
}

/// The key to what occurs, on as many lines as needed.
fn key(groups: &[Bars<'_>], width: f64, signs: &[Sign]) -> Vec<(&'static str, Draw, Point)> {
    let occurs = |is_there: &dyn Fn(&Row) -> bool| groups.iter().flat_map(|(_, rows)| rows).any(|row| is_there(row));
    let bars: [(_, Draw, _); 2] = [
        ("gmp is faster", |at| sample("gmp", at), occurs(&|row| row.ratio() <= 1.0)),
        ("tokio is faster", |at| sample("tokio", at), occurs(&|row| row.ratio() > 1.0)),
    ];
    let signs = signs.iter().map(|sign| (sign.0, sign.1, occurs(&|row| sign.2(row).is_some())));
    let mut at = (MARGIN, 0.0);
    let place = |(words, sign, _): (&'static str, Draw, bool)| {
        let needed = 20.0 + width_of(words) + 14.0;
        if at.0 + needed > width && at.0 > MARGIN {
            at = (MARGIN, at.1 + 18.0);
        }
        at.0 += needed;
        (words, sign, (at.0 - needed, at.1))
    };
    bars.into_iter().chain(signs).filter(|(.., occurs)| *occurs).map(place).collect()
}

fn sample(class: &str, (x, y): Point) -> Markup {
    svg::bar(class, (x - 7.0, y - 5.0), (x + 7.0, y + 5.0))
}

#[cfg(test)]
pub(crate) mod tests {
    use gmp_benches::measure::Samples;
    use gmp_benches::rt::Tokio;
    use gmp_benches::workloads;

    use super::*;

    /// All rows of the scheduler, gmp's twice as fast as tokio's.
    pub(crate) fn scheduler() -> Vec<Row> {
        let samples = |nanos| Some(Samples::new(vec![nanos]));
        let row = |name| Row::new(name, 2, [samples(50.0), samples(100.0), None, None]);
        workloads::scheduler::<Tokio>().iter().map(|workload| row(workload.name)).collect()
    }

    #[test]
    fn the_mean_stands_below_its_rows() {
        let (rows, mean) = (scheduler(), Row::mean(&scheduler()));
        let groups = groups(&rows, mean.as_ref());
        assert_eq!((groups.len(), groups[0].1.last().unwrap().name()), (1, "geometric mean"));
    }

    fn drawn<const N: usize>(rows: [(&str, f64); N]) -> String {
        let row = |(name, gmp): (&str, _)| Row { workload: name.to_owned(), gmp, tokio: 1.0, ..Row::default() };
        bars(&rows.map(row)).into_string()
    }

    #[test]
    fn a_row_that_was_not_measured_has_a_name_and_a_dash() {
        for nothing in [f64::NAN, 0.0, f64::INFINITY] {
            let svg = drawn([("row", nothing), ("other", 0.5)]);
            assert!(svg.contains(">row</text>") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        assert!(drawn([("row", f64::NAN)]).contains(">–</text>"));
    }

    #[test]
    fn a_slower_row_is_on_the_other_side_of_one() {
        let svg = drawn([("fast", 0.5), ("slow", 2.0)]);
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
