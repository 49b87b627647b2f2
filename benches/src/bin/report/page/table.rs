//! The table with all its numbers.

use gmp_benches::report::{Line as Row, spread};
use gmp_benches::workloads::{Goal, Group};
use maud::{Markup, html};

use super::bars::GROUPS;
use super::html::{Column, Line, head, table, words_table};
use crate::plots::{quantity, ratio};

/// Describes the workloads in its tables.
const README: &str = include_str!("../../../../README.md");

const COLUMNS: [Column<Row>; 9] = [
    ("workload", |row| row.workload.clone()),
    ("gmp", |row| median(Some(row.gmp), Some(&row.samples.gmp), &row.unit)),
    ("tokio", |row| median(Some(row.tokio), Some(&row.samples.tokio), &row.unit)),
    ("smol", |row| median(row.smol, row.samples.smol.as_deref(), &row.unit)),
    ("Go", |row| median(row.go, row.samples.go.as_deref(), &row.unit)),
    ("ratio", |row| ratio(row.ratio())),
    ("limit", |row| goals(row.goal())[0].clone()),
    ("aim", |row| goals(row.goal())[1].clone()),
    ("met", |row| row.met().unwrap_or_default().to_owned()),
];

/// Every row that was measured.
pub(crate) fn full(all: &[Row]) -> Markup {
    let mut lines = Vec::new();
    for (group, title) in GROUPS {
        let mut rows = all.iter().filter(|row| row.group() == group).peekable();
        lines.extend(rows.peek().map(|_| Line::heading(title)));
        lines.extend(rows.map(|row| Line::of(&COLUMNS, row, row.met() == Some("MISSED") || row.ratio() > 1.0)));
        lines.extend(mean(all).filter(|_| group == Group::Scheduler));
    }
    html! {
        (table(&head(&COLUMNS), lines))
        details {
            summary { "What the workloads do" }
            (words_table(&["workload", "what it does", "an operation"], all.iter().map(description)))
        }
    }
}

fn description(row: &Row) -> Line {
    let (does, operation) = words(&row.workload).unwrap_or(("–", "–"));
    Line::new(vec![row.workload.clone(), does.replace('`', ""), operation.to_owned()], false)
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

/// With the interquartile range. A single repetition has no range.
fn median(median: Option<f64>, samples: Option<&[f64]>, unit: &str) -> String {
    let Some(median) = median else {
        return "–".to_owned();
    };
    let spread = samples.and_then(|samples| spread(samples, median));
    quantity(median, unit) + &spread.map_or(String::new(), |spread| format!(" ({spread:.0} %)"))
}

fn goals(goal: Option<Goal>) -> [String; 2] {
    match goal {
        Some(Goal::Ratio { limit, aim }) => [limit, aim].map(ratio),
        Some(Goal::Nanos { limit, aim }) => [limit, aim].map(|nanos| quantity(nanos, "ns")),
        None => ["–", "–"].map(str::to_owned),
    }
}

fn mean(rows: &[Row]) -> Option<Line> {
    let mean = Row::mean(rows)?;
    let ([limit, aim], met) = (goals(mean.goal()), mean.met().unwrap_or_default());
    let cells = ["geometric mean", "", "", "", "", &ratio(mean.ratio), &limit, &aim, met].map(str::to_owned).to_vec();
    Some(Line::new(cells, met == "MISSED"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{row, scheduler};

    #[test]
    fn a_row_that_loses_is_there_and_marked() {
        let mut rows = scheduler();
        rows[3].gmp = 150.0;
        let html = full(&rows).into_string();
        assert_eq!(html.matches("<tr class=\"bad\">").count(), 1);
        assert!(rows.iter().all(|row| html.contains(&format!(">{}</th>", row.workload))), "{html}");
    }

    #[test]
    fn half_of_the_repetitions_lie_within_the_spread() {
        assert_eq!(median(Some(200.0), Some(&[100.0, 150.0, 200.0, 250.0, 300.0]), "ns/op"), "200 ns (50 %)");
        assert_eq!(median(Some(200.0), Some(&[200.0]), "ns/op"), "200 ns");
        assert_eq!(median(Some(200.0), Some(&[]), "ns/op"), "200 ns");
        assert_eq!(median(None, None, "ns/op"), "–");
    }

    #[test]
    fn what_was_not_measured_is_a_dash() {
        let html = full(&[Row { smol: Some(7.0), ..row("ring_500", f64::NAN, 0.0) }]).into_string();
        assert!(!html.contains("NaN") && !html.contains("inf") && html.contains(">7 ns<"), "{html}");
    }

    #[test]
    fn every_workload_is_described() {
        let missing: Vec<_> = gmp_benches::plan::names().into_iter().filter(|name| words(name).is_none()).collect();
        assert!(missing.is_empty(), "README.md has no row for {missing:?}");
        assert_eq!(words("no_such_workload"), None);
    }
}
