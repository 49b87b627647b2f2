//! `API.md`.

use super::difference::{Change, Difference};
use super::{ALL, Api};
use crate::exceptions::Exceptions;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many there are of something, and how many of these are the same in the drop-in.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    tokio: usize,
    same: usize,
}

/// A line of the table.
#[derive(Debug)]
pub(crate) struct Row {
    name: String,
    items: Count,
    parts: Count,
}

/// The lines for a set of features: one per module for all, one for all modules otherwise.
pub(crate) fn rows(features: &str, tokio: &Api, differences: &[Difference]) -> Vec<Row> {
    let mut rows = BTreeMap::<String, Row>::new();
    for name in tokio.keys() {
        let (item, is_part) = name.split_once('#').map_or((&**name, false), |(item, _)| (item, true));
        let of = match (features, item.rsplit_once('/')) {
            (ALL, Some((module, _))) => format!("all: {module}"),
            (ALL, None) => "all: (top)".to_owned(),
            ("", _) => "none".to_owned(),
            _ => features.to_owned(),
        };
        let row = rows.entry(of.clone()).or_insert(Row { name: of, items: Count::default(), parts: Count::default() });
        let count = if is_part { &mut row.parts } else { &mut row.items };
        count.tokio += 1;
        let is_other = |difference: &&Difference| difference.name == *name || (is_part && difference.name == item && difference.change == Change::Missing);
        count.same += usize::from(!differences.iter().any(|difference| is_other(&difference)));
    }
    rows.into_values().collect()
}

pub(crate) fn text(rows: &[Row], found: &BTreeMap<Difference, Vec<&str>>, exceptions: &Exceptions) -> String {
    let mut text = String::from(HEAD);
    for Row { name, items, parts } in rows {
        let _ = writeln!(text, "| {name} | {} | {} | {} | {} |", items.tokio, items.same, parts.tokio, parts.same);
    }
    text.push_str("\n## Missing or different\n\n");
    for (difference, _) in found.iter().filter(|(difference, _)| difference.change != Change::Added) {
        let Difference { name, change } = difference;
        let kind = if *change == Change::Missing { "missing" } else { "different" };
        let _ = writeln!(text, "- `{name}`, {kind}: {}", exceptions.api_reason(name).unwrap_or("NOT LISTED"));
    }
    text.push_str("\n## Only here\n\n");
    for (difference, features) in found.iter().filter(|(difference, _)| difference.change == Change::Added) {
        let _ = writeln!(text, "- `{}` ({})", difference.name, features.join("; "));
    }
    text
}

const HEAD: &str = "# tokio's public items against the drop-in's\n\n| features | items | same | parts | same |\n|---|---|---|---|---|\n";
