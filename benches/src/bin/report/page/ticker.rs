//! The promise: a ticker beside tasks that hold their thread.

use gmp_benches::report::Ticker;
use maud::{Markup, html};

use super::firsts;
use super::html::{grouped, table};
use crate::plots::distributions;

/// A panel for each kind of hog, then all numbers.
pub(crate) fn body(rows: &[Ticker]) -> Markup {
    let hogs = firsts(rows, |a, b| a.hogs == b.hogs).into_iter().map(|row| (row.hogs.clone(), row.hogs.as_str()));
    let groups = grouped(rows, &hogs.collect::<Vec<_>>(), |row| row.hogs.clone());
    html! {
        (distributions(&groups, |row| (row.side, row.ticks, &row.curve), "lateness"))
        @if let Some(Ticker { procs, secs, reps, .. }) = rows.first() {
            p {
                (procs) " Ps and workers, repetitions in turns: " (reps) " of " (secs) " s. Lateness in ms: p50 and p99 are the medians \
                 of the repetitions, max and the curves are those of all ticks. Met is what was wanted of gmp's median \
                 p99. A stall is one late tick, however long: look at max, too. Thread p99 is that of a plain thread."
            }
        }
        (table(&Ticker::COLUMNS[1..], &groups, |row| row.verdict() == Some("MISSED")))
    }
}

#[cfg(test)]
mod tests {
    use gmp_benches::side::Side;

    use super::*;

    fn row(hogs: &str, side: Side, p99: f64) -> Ticker {
        let goal = |goal| (side == Side::Gmp).then_some(goal);
        let (hogs, curve, (limit, aim)) = (hogs.to_owned(), vec![(50.0, 0.1), (99.0, p99)], (goal(2.0), goal(0.5)));
        let p99_range = Some((p99 / 2.0, 2.0 * p99));
        Ticker { hogs, side, secs: 2, reps: 5, ticks: 1000, p99, p99_range, curve, limit, aim, ..Ticker::default() }
    }

    #[test]
    fn hogs_of_a_kind_share_a_panel_and_nothing_is_wanted_of_tokio() {
        let html =
            body(&[row("a", Side::Gmp, 0.4), row("a", Side::Tokio, 49.0), row("b", Side::Gmp, 3.0)]).into_string();
        assert_eq!(html.matches("<svg").count(), 2);
        assert_eq!([">aim</td>", ">limit</td>", ">MISSED</td>"].map(|met| html.matches(met).count()), [1, 0, 1]);
        assert!(html.contains(">0.20..0.80</td>") && html.contains("5 of 2 s"), "{html}");
    }
}
