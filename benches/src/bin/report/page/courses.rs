//! Lines over the number of Ps, and over the minutes of a long run.

use gmp_benches::report::{Line as Row, Minute};
use gmp_benches::side::Side;
use maud::{Markup, html};

use super::firsts;
use crate::plots::{Line, course, panels, procs};

/// Cost by number of Ps: one panel per workload, in the order of the rows.
pub(crate) fn sweep(rows: &[Row], cores: Option<usize>) -> Markup {
    panels(firsts(rows, |a, b| a.workload == b.workload).into_iter().map(|Row { workload, unit, .. }| {
        let rows = || rows.iter().filter(|row| row.workload == *workload);
        let line = |side, value: fn(&Row) -> f64| Line {
            side,
            points: rows().map(|row| (row.procs as f64, value(row))).collect(),
        };
        let lines = [line(Side::Gmp, |row| row.gmp), line(Side::Tokio, |row| row.tokio)];
        procs(workload, unit, cores.unwrap_or_default(), &lines)
    }))
}

/// A value that is followed: its name, its unit, and how to read it.
type Followed = (&'static str, &'static str, fn(&Minute) -> f64);

const FOLLOWED: [Followed; 4] = [
    ("p50", "ms", |minute| minute.p50),
    ("p99", "ms", |minute| minute.p99),
    ("Memory", "bytes", |minute| minute.rss as f64),
    ("Threads", "", |minute| minute.threads as f64),
];

/// The long run: one panel per value.
pub(crate) fn minutes(minutes: &[Minute]) -> Markup {
    let sides = firsts(minutes, |a, b| a.side == b.side);
    let line = |side, value: fn(&Minute) -> f64| {
        let of_side = minutes.iter().filter(|minute| minute.side == side);
        Line { side, points: of_side.map(|minute| (f64::from(minute.minute), value(minute))).collect() }
    };
    let drawings = FOLLOWED.map(|(title, unit, value)| {
        course(title, unit, &sides.iter().map(|first| line(first.side, value)).collect::<Vec<_>>())
    });
    html! {
        @if let Some(Minute { rate, .. }) = minutes.first() {
            p { "5 % of " (rate) " requests a second block their thread for 100 ms; latencies of the others." }
        }
        (panels(drawings))
    }
}
