//! The table, as bars and with all its numbers.

use gmp_benches::report::{COLUMNS, Column, Line as Row, quantity};
use gmp_benches::workloads::Group;
use maud::{Markup, html};

use super::html::{grouped, table, words_table};
use crate::plots::ratios::{self, Bar, Group as Bars};

/// Describes the workloads in its tables.
const README: &str = include_str!("../../../../README.md");

/// The groups in their order, and their names.
const GROUPS: [(Group, &str); 5] = [
    (Group::Scheduler, "Scheduler"),
    (Group::Blocking, "Closures that may block"),
    (Group::Time, "Timers"),
    (Group::Io, "Sockets and files"),
    (Group::Memory, "Memory"),
];

/// Three widths: for a telephone, for a window beside another one, and for a whole screen. The page
/// shows the one that fits.
const WIDTHS: [(&str, f64); 3] = [("narrow", 340.0), ("medium", 660.0), ("wide", 1040.0)];

/// The largest width that fits beside the text of a README.
const README_WIDTH: f64 = 830.0;

/// The rows as bars, for the page.
pub(crate) fn bars(rows: &[Row]) -> Markup {
    let groups = groups(rows);
    html! { @for (class, width) in WIDTHS { div class=(class) { (ratios::inline(&groups, width)) } } }
}

/// The rows as bars, in a file of its own. Limits are left out: they inform only developers of gmp.
pub(crate) fn file(rows: &[Row], lines: &[&str]) -> String {
    let mut groups = groups(rows);
    groups.iter_mut().flat_map(|group| &mut group.bars).for_each(|bar| bar.limit = None);
    ratios::file(&groups, README_WIDTH, lines)
}

fn groups(rows: &[Row]) -> Vec<Bars> {
    let rows = with_mean(rows);
    let groups = grouped(&rows, &GROUPS, Row::group).into_iter();
    groups.map(|(title, rows)| Bars { title: title.to_owned(), bars: rows.into_iter().map(bar).collect() }).collect()
}

/// The geometric mean stands below its rows.
fn with_mean(rows: &[Row]) -> Vec<Row> {
    rows.iter().cloned().chain(Row::mean(rows)).collect()
}

fn bar(row: &Row) -> Bar {
    let over_tokio = |value: Option<f64>| value.filter(|_| !row.is_mean()).map(|value| value / row.tokio);
    Bar {
        name: row.name().to_owned(),
        ratio: row.ratio(),
        limit: row.limit(),
        go: over_tokio(row.go),
        smol: over_tokio(row.smol),
        values: (!row.is_mean()).then(|| [row.gmp, row.tokio].map(|value| quantity(value, &row.unit))),
    }
}

const DESCRIPTIONS: [Column<Row>; 3] = [
    ("workload", 0, |row| row.workload.clone()),
    ("what it does", 0, |row| words(&row.workload).map_or("–", |words| words.0).replace('`', "")),
    ("an operation", 0, |row| words(&row.workload).map_or("–", |words| words.1).to_owned()),
];

/// Every row that was measured.
pub(crate) fn full(all: &[Row]) -> Markup {
    let rows = with_mean(all);
    html! {
        (table(&COLUMNS, &grouped(&rows, &GROUPS, Row::group), |row| row.met() == Some("MISSED") || row.ratio() > 1.0))
        details {
            summary { "What the workloads do" }
            (words_table(&DESCRIPTIONS, all))
        }
    }
}

/// What the workload does, and what counts as an operation.
fn words(workload: &str) -> Option<(&'static str, &'static str)> {
    let name = format!("`{workload}`");
    README.lines().find_map(|line| {
        let mut cells = line.strip_prefix('|')?.split('|').map(str::trim);
        let names = cells.next()?.split(", ").any(|it| it == name);
        if names { Some((cells.next()?, cells.next()?)) } else { None }
    })
}

#[cfg(test)]
pub(super) mod tests {
    use gmp_benches::rt::Tokio;
    use gmp_benches::workloads;

    use super::*;

    /// A row that was measured with two Ps.
    pub(crate) fn row(workload: &str, gmp: f64, tokio: f64) -> Row {
        Row::new(workload, 2, [Some(vec![gmp]), Some(vec![tokio]), None, None])
    }

    /// All rows of the scheduler, gmp's twice as fast as tokio's.
    pub(crate) fn scheduler() -> Vec<Row> {
        workloads::scheduler::<Tokio>().iter().map(|workload| row(workload.name, 50.0, 100.0)).collect()
    }

    #[test]
    fn a_row_that_loses_is_there_and_marked_and_the_mean_stands_below_its_rows() {
        let mut rows = scheduler();
        (rows[3].gmp, rows[4].smol) = (150.0, Some(7.0));
        rows.push(row("block_warm", f64::NAN, 0.0));
        let html = full(&rows).into_string();
        assert_eq!(html.matches("<tr class=\"bad\">").count(), 1, "{html}");
        assert!(rows.iter().all(|row| html.contains(&format!(">{}</th>", row.workload))), "{html}");
        assert!(!html.contains("NaN") && !html.contains("inf") && html.contains(">7 ns    –<"), "{html}");
        let groups = groups(&scheduler());
        assert_eq!((groups.len(), groups[0].bars.last().unwrap().name.as_str()), (1, "geometric mean"));
    }

    #[test]
    fn every_workload_is_described() {
        let missing: Vec<_> = workloads::names().into_iter().filter(|name| words(name).is_none()).collect();
        assert!(missing.is_empty(), "README.md has no row for {missing:?}");
    }
}
