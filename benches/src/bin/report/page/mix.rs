//! HTTP beside handlers that hold their thread.

use gmp_benches::plots::{
    Side,
    distribution::{self, Latencies, Load},
    quantity, ratio,
};

use super::html::{Line, panels, paragraph, table};
use crate::saved::Mix;

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
            "{} requests a second, {} Ps and workers, {} servers for each line, each measured for {} s.",
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
        row.limit.map_or("–".to_owned(), ratio),
        met.unwrap_or_default().to_owned(),
        or_dash(row.threads),
        or_dash(row.cpu_s.map(|cpu| format!("{cpu:.2}"))),
        or_dash(row.context_switches),
    ];
    if met == Some("MISSED") || row.failed > 0 { Line::Bad(cells) } else { Line::Cells(cells) }
}

pub(crate) fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or("–".to_owned(), |value| value.to_string())
}
