//! HTTP beside handlers that hold their thread.

use gmp_benches::report::Mix;
use gmp_benches::side::Side;
use maud::{Markup, html};

use super::firsts;
use super::html::{Group, table};
use crate::plots::distributions;

/// The variants in their order, and their titles.
const VARIANTS: [(&str, &str); 3] =
    [("plain", "No handler holds its thread"), ("block", "5 % block for 100 ms"), ("compute", "5 % compute for 20 ms")];

/// For each load one panel per variant, then all numbers.
pub(crate) fn body(rows: &[Mix]) -> Markup {
    let load = |row: &Mix| (row.rate, row.shared, row.fresh);
    html! {
        @for first in firsts(rows, |a, b| load(a) == load(b)) {
            @let groups = variants(rows.iter().filter(|row| load(row) == load(first)).collect());
            (conditions(first))
            (distributions(&groups, |row| (row.side, row.requests, &row.curve), "latency"))
            (table(&Mix::COLUMNS[1..], &groups, |row| row.verdict() == Some("MISSED") || row.all_failed() > 0))
        }
    }
}

fn variants(rows: Vec<&Mix>) -> Vec<Group<'_, Mix>> {
    let of = |variant| rows.iter().copied().filter(|row| row.variant == variant).collect::<Vec<_>>();
    VARIANTS.iter().map(|(variant, title)| (*title, of(*variant))).filter(|group| !group.1.is_empty()).collect()
}

/// The requests per second at which 5 % of the handlers block, and the p99 of the other requests on
/// both sides. Takes the lowest rate, at which tokio has enough workers: without enough workers its
/// latencies grow for as long as the measurement lasts.
pub(crate) fn promise(rows: &[Mix]) -> Option<(u64, f64, f64)> {
    let blocking = || rows.iter().filter(|row| row.variant == "block" && !row.shared && !row.fresh);
    let rate = blocking().map(|row| row.rate).min()?;
    let p99 = |side| blocking().find(|row| row.rate == rate && row.side == side).map(|row| row.p99);
    p99(Side::Gmp).zip(p99(Side::Tokio)).map(|(gmp, tokio)| (rate, gmp, tokio))
}

fn conditions(row: &Mix) -> Markup {
    let connections = match (row.fresh, row.shared) {
        (true, _) => "a new connection for every request",
        (false, true) => "the same connections for all",
        (false, false) => "connections of their own for those that do",
    };
    html! {
        p {
            (row.rate) " requests a second, " (connections) ", " (row.procs) " Ps and workers; servers for each line: "
            (row.reps) ", each measured for " (row.secs) " s. Latencies in ms; x plain: p99 over that without requests that \
             hold their thread, the median of the rounds, and the lowest and the highest; sent: p99 from the moment of \
             sending; late: sent late by the generator itself; no conn: sent late because each connection was waiting \
             for an answer."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(side: Side, variant: &str, p99: f64) -> Mix {
        Mix {
            side,
            variant: variant.to_owned(),
            rate: 900,
            requests: 1000,
            p99,
            curve: vec![(50.0, 0.1), (99.0, p99), (100.0, 2.0)],
            times_plain: p99 / 0.5,
            limit: (side == Side::Gmp && variant != "plain").then_some(3.0),
            ..Mix::default()
        }
    }

    #[test]
    fn a_limit_that_is_missed_is_marked_and_so_is_a_request_that_held_its_thread_and_failed() {
        let failed = Mix { holding_failed: 2, ..row(Side::Tokio, "block", 1.0) };
        let html = body(&[row(Side::Gmp, "block", 1.5), row(Side::Gmp, "compute", 1.6), failed]).into_string();
        assert_eq!((html.matches(">limit</td>").count(), html.matches(">MISSED</td>").count()), (1, 1));
        assert_eq!((html.matches("class=\"bad\"").count(), html.matches("<td>2</td>").count()), (2, 1), "{html}");
    }

    #[test]
    fn every_load_has_its_own_plots_and_numbers() {
        let shared = Mix { shared: true, ..row(Side::Gmp, "block", 1.0) };
        let html = body(&[row(Side::Gmp, "plain", 0.5), shared, row(Side::Tokio, "plain", 0.5)]).into_string();
        assert_eq!((html.matches("<table").count(), html.matches("the same connections for all").count()), (2, 1));
    }

    #[test]
    fn the_promise_is_told_of_the_rate_that_tokio_can_keep_up_with_if_both_sides_are_there() {
        let both = |rate, p99| [Side::Gmp, Side::Tokio].map(|side| Mix { rate, ..row(side, "block", p99) });
        assert_eq!(promise(&both(900, 1500.0)[..1]), None);
        assert_eq!(promise(&[both(900, 1500.0), both(200, 80.0)].concat()), Some((200, 80.0, 80.0)));
    }
}
