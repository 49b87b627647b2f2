//! The table with all its numbers.

use gmp_benches::measure::Samples;
use gmp_benches::report::{Line as Row, geometric_mean};
use gmp_benches::workloads::{GEOMETRIC_MEAN, Goal, Group};
use maud::{Markup, html};

use super::bars::GROUPS;
use super::html::{Column, Line, head, table, words_table};
use super::words;
use crate::plots::{quantity, ratio};

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
        lines.extend(rows.peek().map(|_| Line::Heading(title.to_owned())));
        lines.extend(rows.map(|row| Line::new(&COLUMNS, row, row.met() == Some("MISSED") || row.ratio() > 1.0)));
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
    let (does, operation) = words::of(&row.workload).unwrap_or(("–", "–"));
    Line::Cells(vec![row.workload.clone(), does.replace('`', ""), operation.to_owned()])
}

/// With the interquartile range. A single repetition has no range.
fn median(median: Option<f64>, samples: Option<&[f64]>, unit: &str) -> String {
    let Some(median) = median else {
        return "–".to_owned();
    };
    let spread = samples.filter(|samples| samples.len() > 1).map(|samples| {
        let (low, high) = Samples::new(samples.to_vec()).quartiles();
        format!(" ({:.0} %)", 100.0 * (high - low) / median)
    });
    quantity(median, unit) + &spread.unwrap_or_default()
}

fn goals(goal: Option<Goal>) -> [String; 2] {
    match goal {
        Some(Goal::Ratio { limit, aim }) => [limit, aim].map(ratio),
        Some(Goal::Nanos { limit, aim }) => [limit, aim].map(|nanos| quantity(nanos, "ns")),
        Some(Goal::Undecided) | None => ["–", "–"].map(str::to_owned),
    }
}

fn mean(rows: &[Row]) -> Option<Line> {
    let (mean, goal) = (geometric_mean(rows)?, GEOMETRIC_MEAN.at(rows.first()?.procs));
    let [limit, aim] = goals(goal);
    let met = goal.and_then(|goal| goal.met(mean, f64::NAN)).unwrap_or_default();
    let cells = ["geometric mean", "", "", "", "", &ratio(mean), &limit, &aim, met].map(str::to_owned).to_vec();
    Some(Line::judged(cells, met == "MISSED"))
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
}
