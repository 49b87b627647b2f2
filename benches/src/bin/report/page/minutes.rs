//! The long run: does any value drift?

use gmp_benches::report::Minute;
use maud::{Markup, html};

use super::html::panels;
use crate::plots::{Line, course};

/// A value that is followed: its name, its unit, and how to read it.
type Followed = (&'static str, &'static str, fn(&Minute) -> f64);

const FOLLOWED: [Followed; 4] = [
    ("p50", "ms", |minute| minute.p50),
    ("p99", "ms", |minute| minute.p99),
    ("Memory", "bytes", |minute| minute.rss as f64),
    ("Threads", "", |minute| minute.threads as f64),
];

/// One panel per value.
pub(crate) fn body(minutes: &[Minute]) -> Markup {
    let drawings = FOLLOWED.map(|(title, unit, value)| course::inline(title, unit, lines(minutes, value)));
    html! {
        @if let Some(Minute { rate, .. }) = minutes.first() {
            p { "5 % of " (rate) " requests a second block their thread for 100 ms; latencies of the others." }
        }
        (panels(&drawings))
    }
}

fn lines(minutes: &[Minute], value: fn(&Minute) -> f64) -> Vec<Line> {
    let mut sides: Vec<_> = minutes.iter().map(|minute| minute.side).collect();
    sides.sort();
    sides.dedup();
    let of = |side| minutes.iter().filter(move |minute| minute.side == side);
    let points = |side| of(side).map(|minute| (f64::from(minute.minute), value(minute))).collect();
    sides.into_iter().map(|side| Line { side, points: points(side) }).collect()
}

#[cfg(test)]
mod tests {
    use gmp_benches::side::Side;

    use super::*;

    #[test]
    fn every_value_has_a_panel_with_a_line_for_each_side() {
        let minute = |side, minute| Minute {
            workload: String::new(),
            side,
            minute,
            rate: 900,
            requests: 0,
            failed: 0,
            p50: 0.1,
            p99: 0.4,
            max: 0.0,
            served_p99: 0.0,
            sent_late_p99: 0.0,
            sent_late_max: 0.0,
            no_connection: 0,
            cpu_s: 0.0,
            rss: 10 << 20,
            threads: 9,
            descriptors: 0,
        };
        let html = body(&[minute(Side::Gmp, 1), minute(Side::Tokio, 1), minute(Side::Gmp, 2), minute(Side::Tokio, 2)])
            .into_string();
        assert_eq!((html.matches("<svg").count(), html.matches("<polyline").count()), (4, 8));
    }
}
