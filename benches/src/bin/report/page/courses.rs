//! Lines over the number of Ps, and over the minutes of a long run.

use gmp_benches::report::{Line as Row, Minute};
use gmp_benches::side::Side;
use maud::{Markup, html};

use crate::plots::Line;
use crate::plots::curves::{course, panels, procs};

/// Cost by number of Ps: one panel per workload, in the order of the rows.
pub(crate) fn sweep(rows: &[Row], cores: Option<usize>) -> Markup {
    let mut names: Vec<&Row> = Vec::new();
    for row in rows {
        if names.iter().all(|other| other.workload != row.workload) {
            names.push(row);
        }
    }
    panels(names.into_iter().map(|Row { workload, unit, .. }| {
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
    let mut sides: Vec<_> = minutes.iter().map(|minute| minute.side).collect();
    sides.sort();
    sides.dedup();
    let line = |side, value: fn(&Minute) -> f64| {
        let of_side = minutes.iter().filter(|minute| minute.side == side);
        Line { side, points: of_side.map(|minute| (f64::from(minute.minute), value(minute))).collect() }
    };
    let drawings = FOLLOWED.map(|(title, unit, value)| {
        course(title, unit, &sides.iter().map(|side| line(*side, value)).collect::<Vec<_>>())
    });
    html! {
        @if let Some(Minute { rate, .. }) = minutes.first() {
            p { "5 % of " (rate) " requests a second block their thread for 100 ms; latencies of the others." }
        }
        (panels(drawings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::row;

    #[test]
    fn a_workload_has_one_panel_with_all_its_numbers_of_procs() {
        let at = |procs, name| Row { procs, ..row(name, 50.0, 100.0) };
        let html = sweep(&[at(1, "ring_500"), at(1, "mpsc_1"), at(64, "ring_500")], None).into_string();
        assert_eq!((html.matches("<svg").count(), html.matches("<polyline").count()), (2, 2), "{html}");
    }

    #[test]
    fn every_value_of_a_minute_has_a_panel_with_a_line_for_each_side() {
        let minute = |side, minute| Minute { side, minute, p50: 0.1, p99: 0.4, ..Minute::default() };
        let sides = [(Side::Gmp, 1), (Side::Tokio, 1), (Side::Gmp, 2), (Side::Tokio, 2)];
        let html = minutes(&sides.map(|(side, number)| minute(side, number))).into_string();
        assert_eq!((html.matches("<svg").count(), html.matches("<polyline").count()), (4, 8));
    }
}
