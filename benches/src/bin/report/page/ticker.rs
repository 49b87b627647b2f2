//! The promise: a ticker beside tasks that hold their thread.

use gmp_benches::report::{Ticker, met, or_dash};
use maud::{Markup, html};

use super::html::{Column, Line, head, table};
use crate::plots::curves::{Load, distribution, distributions};
use crate::plots::quantity;

const COLUMNS: [Column<Ticker>; 12] = [
    ("on", |row| row.side.name().to_owned()),
    ("ticks", |row| row.ticks.to_string()),
    ("p50", |row| millis(row.p50)),
    ("p99", |row| millis(row.p99)),
    ("p99, lowest to highest", |row| {
        or_dash(row.p99_range.map(|(low, high)| format!("{} to {}", millis(low), millis(high))))
    }),
    ("max", |row| millis(row.max)),
    ("p99 of a thread", |row| millis(row.thread_p99)),
    ("limit", |row| or_dash(row.limit.map(millis))),
    ("aim", |row| or_dash(row.aim.map(millis))),
    ("met", |row| verdict(row).unwrap_or_default().to_owned()),
    ("threads", |row| or_dash(row.threads)),
    ("CPU s", |row| or_dash(row.cpu_s.map(|cpu| format!("{cpu:.2}")))),
];

fn millis(value: f64) -> String {
    quantity(value, "ms")
}

fn verdict(row: &Ticker) -> Option<&'static str> {
    row.limit.zip(row.aim).map(|(limit, aim)| met(row.p99, limit, aim))
}

/// A panel for each kind of hog, then all numbers.
pub(crate) fn body(rows: &[Ticker]) -> Markup {
    let hogs = hogs(rows);
    let loads: Vec<Load> = hogs.iter().map(|hogs| load(hogs, rows)).collect();
    html! {
        (distributions(&loads, "lateness"))
        @if let Some(Ticker { procs, secs, reps, .. }) = rows.first() {
            p {
                (procs) " Ps and workers, repetitions in turns: " (reps) " of " (secs) " s. p50 and p99 are the medians \
                 of the repetitions, max and the curves are those of all ticks. Met is what was wanted of gmp's median \
                 p99. A stall is one late tick, however long: look at max, too."
            }
        }
        (numbers(&hogs, rows))
    }
}

/// The kinds of hogs, in the order of the rows.
fn hogs(rows: &[Ticker]) -> Vec<&str> {
    let mut hogs: Vec<&str> = rows.iter().map(|row| row.hogs.as_str()).collect();
    hogs.dedup();
    hogs
}

fn load(hogs: &str, rows: &[Ticker]) -> Load {
    let rows = rows.iter().filter(|row| row.hogs == hogs);
    (hogs.to_owned(), rows.map(|row| distribution(row.side, row.ticks, &row.curve)).collect())
}

fn numbers(hogs: &[&str], rows: &[Ticker]) -> Markup {
    let mut lines = Vec::new();
    for hogs in hogs {
        lines.push(Line::heading(hogs));
        let rows = rows.iter().filter(|row| row.hogs == *hogs);
        lines.extend(rows.map(|row| Line::of(&COLUMNS, row, verdict(row) == Some("MISSED"))));
    }
    table(&head(&COLUMNS), lines)
}

#[cfg(test)]
mod tests {
    use gmp_benches::side::Side;

    use super::*;

    fn row(hogs: &str, side: Side, p99: f64) -> Ticker {
        Ticker {
            hogs: hogs.to_owned(),
            side,
            secs: 2,
            reps: 5,
            ticks: 1000,
            p99,
            p99_range: Some((p99 / 2.0, 2.0 * p99)),
            curve: vec![(50.0, 0.1), (99.0, p99), (100.0, 50.0)],
            limit: (side == Side::Gmp).then_some(2.0),
            aim: (side == Side::Gmp).then_some(0.5),
            ..Ticker::default()
        }
    }

    #[test]
    fn hogs_of_a_kind_share_a_panel_and_nothing_is_wanted_of_tokio() {
        let html =
            body(&[row("a", Side::Gmp, 0.4), row("a", Side::Tokio, 49.0), row("b", Side::Gmp, 3.0)]).into_string();
        assert_eq!(html.matches("<svg").count(), 2);
        assert_eq!([">aim</td>", ">limit</td>", ">MISSED</td>"].map(|met| html.matches(met).count()), [1, 0, 1]);
        assert!(html.contains(">200 µs to 800 µs</td>") && html.contains("5 of 2 s"), "{html}");
    }
}
