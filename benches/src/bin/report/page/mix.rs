//! HTTP beside handlers that hold their thread.

use gmp_benches::report::{Mix, or_dash};
use gmp_benches::side::Side;
use maud::{Markup, html};

use super::html::{Column, Line, head, table};
use crate::plots::curves::{Load, distribution, distributions};
use crate::plots::{quantity, ratio};

/// The variants in their order, and their titles.
const VARIANTS: [(&str, &str); 3] =
    [("plain", "No handler holds its thread"), ("block", "5 % block for 100 ms"), ("compute", "5 % compute for 20 ms")];

const COLUMNS: [Column<Mix>; 18] = [
    ("on", |row| row.side.name().to_owned()),
    ("requests", |row| row.requests.to_string()),
    ("failed", |row| failed(row).to_string()),
    ("p50", |row| millis(row.p50)),
    ("p99", |row| millis(row.p99)),
    ("p99.9", |row| millis(row.p99_9)),
    ("max", |row| millis(row.max)),
    ("p99 / plain", |row| ratio(row.times_plain)),
    ("in rounds", |row| row.times_plain_range.map(ratio).join(" to ")),
    ("limit", |row| or_dash(row.limit.map(ratio))),
    ("met", |row| met(row).unwrap_or_default().to_owned()),
    ("p99 from sending", |row| millis(row.served_p99)),
    ("sent late, p99", |row| millis(row.sent_late_p99)),
    ("no connection", |row| row.no_connection.to_string()),
    ("threads", |row| or_dash(row.threads)),
    ("CPU s", |row| or_dash(row.cpu_s.map(|cpu| format!("{cpu:.2}")))),
    ("switches", |row| or_dash(row.context_switches)),
    ("busy", |row| or_dash(row.busy.map(|busy| format!("{:.0} %", busy * 100.0)))),
];

fn millis(value: f64) -> String {
    quantity(value, "ms")
}

fn failed(row: &Mix) -> u64 {
    row.failed + row.holding_failed
}

fn met(row: &Mix) -> Option<&'static str> {
    row.limit.map(|limit| if row.times_plain <= limit { "limit" } else { "MISSED" })
}

/// For each load one panel per variant, then all numbers.
pub(crate) fn body(rows: &[Mix]) -> Markup {
    html! { @for rows in loads(rows) { (conditions(rows[0])) (plots(&rows)) (numbers(&rows)) } }
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

/// The rows of one rate, over connections of one kind.
fn loads(rows: &[Mix]) -> Vec<Vec<&Mix>> {
    let mut loads: Vec<Vec<&Mix>> = Vec::new();
    for row in rows {
        let same =
            |load: &&mut Vec<&Mix>| (load[0].rate, load[0].shared, load[0].fresh) == (row.rate, row.shared, row.fresh);
        match loads.iter_mut().find(same) {
            Some(load) => load.push(row),
            None => loads.push(vec![row]),
        }
    }
    loads
}

fn plots(rows: &[&Mix]) -> Markup {
    let loads = VARIANTS.iter().map(|(variant, title)| load(title, &of(rows, variant)));
    let loads: Vec<Load> = loads.filter(|load| !load.1.is_empty()).collect();
    distributions(&loads, "latency")
}

fn of<'a>(rows: &[&'a Mix], variant: &str) -> Vec<&'a Mix> {
    rows.iter().copied().filter(|row| row.variant == variant).collect()
}

fn load(title: &str, rows: &[&Mix]) -> Load {
    (title.to_owned(), rows.iter().map(|row| distribution(row.side, row.requests, &row.curve)).collect())
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
            (row.reps) ", each measured for " (row.secs) " s."
        }
    }
}

fn numbers(rows: &[&Mix]) -> Markup {
    let mut lines = Vec::new();
    for (variant, title) in VARIANTS {
        let rows = of(rows, variant);
        lines.extend(rows.first().map(|_| Line::heading(title)));
        let is_bad = |row: &Mix| met(row) == Some("MISSED") || failed(row) > 0;
        lines.extend(rows.into_iter().map(|row| Line::of(&COLUMNS, row, is_bad(row))));
    }
    table(&head(&COLUMNS), lines)
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
    fn a_variant_that_was_not_measured_has_no_panel() {
        let html = body(&[row(Side::Gmp, "plain", 0.5), row(Side::Tokio, "plain", 0.5)]).into_string();
        assert_eq!((html.matches("<svg").count(), html.contains("5 % block for")), (1, false));
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
