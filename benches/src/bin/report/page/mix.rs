//! HTTP beside handlers that hold their thread.

use gmp_benches::{
    plots::{
        Side,
        distribution::{self, Latencies, Load},
        quantity, ratio,
    },
    report::{Mix, or_dash},
};

use super::html::{Line, panels, paragraph, table};

/// The variants in their order, and what they are called.
const VARIANTS: [(&str, &str); 3] =
    [("plain", "No handler holds its thread"), ("block", "5 % block for 100 ms"), ("compute", "5 % compute for 20 ms")];

const HEAD: [&str; 13] = [
    "on",
    "requests",
    "failed",
    "p50",
    "p99",
    "p99.9",
    "max",
    "p99 / plain",
    "limit",
    "met",
    "threads",
    "CPU s",
    "switches",
];

/// A panel a variant, then all numbers.
pub(crate) fn body(rows: &[Mix]) -> String {
    let loads: Vec<Load> = VARIANTS.iter().map(|(variant, title)| load(title, &of(rows, variant))).collect();
    let loads: Vec<Load> = loads.into_iter().filter(|load| !load.sides.is_empty()).collect();
    [panels(&distribution::inline(&loads, "latency")), conditions(rows), numbers(rows)].concat()
}

/// The p99 of both sides while 5 % of the requests block their thread.
pub(crate) fn promise(rows: &[Mix]) -> Option<(f64, f64)> {
    let p99 = |side| of(rows, "block").into_iter().find(|row| row.side == side).map(|row| row.p99);
    p99(Side::Gmp).zip(p99(Side::Tokio))
}

fn of<'a>(rows: &'a [Mix], variant: &str) -> Vec<&'a Mix> {
    rows.iter().filter(|row| row.variant == variant).collect()
}

fn load(title: &str, rows: &[&Mix]) -> Load {
    let latencies = |row: &&Mix| (row.side, Latencies { count: row.requests, curve: row.curve.clone() });
    Load { title: title.to_owned(), sides: rows.iter().map(latencies).collect() }
}

fn conditions(rows: &[Mix]) -> String {
    rows.first().map_or(String::new(), |row| {
        paragraph(&format!(
            "{} requests a second, {} Ps and workers; servers for each line: {}, each measured for {} s.",
            row.rate, row.procs, row.reps, row.secs
        ))
    })
}

fn numbers(rows: &[Mix]) -> String {
    let mut lines = Vec::new();
    for (variant, title) in VARIANTS {
        let rows = of(rows, variant);
        if !rows.is_empty() {
            lines.push(Line::Heading(title.to_owned(), HEAD.len()));
        }
        lines.extend(rows.into_iter().map(line));
    }
    table(&HEAD, lines)
}

fn line(row: &Mix) -> Line {
    let met = row.limit.map(|limit| if row.times_plain <= limit { "limit" } else { "MISSED" });
    let millis = |value| quantity(value, "ms");
    let cells = vec![
        row.side.name().to_owned(),
        row.requests.to_string(),
        row.failed.to_string(),
        millis(row.p50),
        millis(row.p99),
        millis(row.p99_9),
        millis(row.max),
        ratio(row.times_plain),
        or_dash(row.limit.map(ratio)),
        met.unwrap_or_default().to_owned(),
        or_dash(row.threads),
        or_dash(row.cpu_s.map(|cpu| format!("{cpu:.2}"))),
        or_dash(row.context_switches),
    ];
    if met == Some("MISSED") || row.failed > 0 { Line::Bad(cells) } else { Line::Cells(cells) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(side: Side, variant: &str, p99: f64) -> Mix {
        Mix {
            workload: "http_mix".to_owned(),
            side,
            variant: variant.to_owned(),
            percent: 5,
            rate: 900,
            procs: 2,
            reps: 3,
            secs: 5,
            shared: false,
            requests: 1000,
            failed: 0,
            holding_requests: 50,
            holding_failed: 0,
            unit: "ms".to_owned(),
            p50: 0.1,
            p99,
            p99_9: 1.0,
            max: 2.0,
            curve: vec![(50.0, 0.1), (99.0, p99), (100.0, 2.0)],
            times_plain: p99 / 0.5,
            limit: (side == Side::Gmp && variant != "plain").then_some(3.0),
            met: None,
            sent_late_p99: 0.0,
            sent_late_max: 0.0,
            no_connection: 0,
            threads: None,
            cpu_s: None,
            context_switches: None,
            busy: None,
        }
    }

    #[test]
    fn a_variant_that_was_not_measured_has_no_panel() {
        let html = body(&[row(Side::Gmp, "plain", 0.5), row(Side::Tokio, "plain", 0.5)]);
        assert_eq!((html.matches("<svg").count(), html.contains("5 % block for")), (1, false));
    }

    #[test]
    fn a_limit_that_is_missed_is_marked() {
        let html = body(&[row(Side::Gmp, "block", 1.5), row(Side::Gmp, "compute", 1.6)]);
        assert_eq!((html.matches(">limit</td>").count(), html.matches(">MISSED</td>").count()), (1, 1));
        assert_eq!(html.matches("class=\"bad\"").count(), 1);
    }

    #[test]
    fn the_promise_is_told_when_both_sides_are_there() {
        let gmp = row(Side::Gmp, "block", 0.6);
        assert_eq!(promise(std::slice::from_ref(&gmp)), None);
        assert_eq!(promise(&[gmp, row(Side::Tokio, "block", 1500.0)]), Some((0.6, 1500.0)));
    }
}
