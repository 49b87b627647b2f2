//! Writes `API.md`.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;

use super::Api;
use super::difference::{Change, Difference};
use crate::exceptions::Exceptions;
use crate::round::Round;

/// The number of items or parts in tokio, and how many of them are the same in the drop-in.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    tokio: usize,
    same: usize,
}

/// A row of one of the tables.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    items: Count,
    parts: Count,
}

/// Rows by the text in their first column.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    modules: BTreeMap<String, Row>,
    features: BTreeMap<String, Row>,
}

impl Rows {
    /// Adds the results of the comparison with these features.
    pub(crate) fn add(&mut self, features: &str, is_all: bool, tokio: &Api, differences: &[Difference]) {
        let differences: HashMap<&str, &Change> =
            differences.iter().map(|Difference { name, change }| (&**name, change)).collect();
        for name in tokio.keys() {
            let item = name.split('#').next().unwrap_or(name);
            let is_same = match differences.get(&**name) {
                Some(change) => **change == Change::Added,
                None => differences.get(item) != Some(&&Change::Missing),
            };
            let row = self.features.entry(features.to_owned()).or_default();
            row.add(item != name, is_same);
            if is_all {
                let module = item.rsplit_once('/').map_or("(top)", |(module, _)| module);
                self.modules.entry(module.to_owned()).or_default().add(item != name, is_same);
            }
        }
    }
}

impl Row {
    fn add(&mut self, is_part: bool, is_same: bool) {
        let count = if is_part { &mut self.parts } else { &mut self.items };
        count.tokio += 1;
        count.same += usize::from(is_same);
    }
}

/// The text of the whole file.
pub(crate) fn text(
    round: Round,
    rows: &Rows,
    found: &BTreeMap<Difference, Vec<&str>>,
    exceptions: &Exceptions,
) -> String {
    let all = round.features();
    let mut text = String::from(HEAD);
    _ = match round {
        Round::Stable => writeln!(text, "With `{all}`:\n"),
        Round::Unstable => writeln!(text, "With `--cfg tokio_unstable` and `{all}`:\n"),
    };
    add_rows(&mut text, "module", &rows.modules);
    text.push_str("\nWith other features:\n\n");
    add_rows(&mut text, "feature", &rows.features);
    text.push_str("\n## Missing or different\n\n");
    for (difference, features) in found {
        let Difference { name, change } = difference;
        let reason = exceptions.api_reason(name).unwrap_or("NOT LISTED").trim().replace('\n', " ");
        _ = match change {
            Change::Missing => writeln!(text, "- `{name}` is missing ({}): {reason}", with(all, features)),
            Change::Other { .. } => writeln!(text, "- `{name}` is different ({}): {reason}", with(all, features)),
            Change::Added => continue,
        };
    }
    text.push_str("\n## Only here\n\nWhat there is more of does not fail the comparison.\n\n");
    for (difference, features) in found.iter().filter(|(difference, _)| difference.change == Change::Added) {
        _ = writeln!(text, "- `{}` ({})", difference.name, with(all, features));
    }
    text
}

fn add_rows(text: &mut String, head: &str, rows: &BTreeMap<String, Row>) {
    _ = writeln!(text, "| {head} | items | the same | parts | the same |\n|---|---|---|---|---|");
    for (name, Row { items, parts }) in rows {
        let name = if name.is_empty() { "none" } else { name };
        _ = writeln!(text, "| {name} | {} | {} | {} | {} |", items.tokio, items.same, parts.tokio, parts.same);
    }
}

/// The features with which a difference was found, as text.
fn with(all: &str, features: &[&str]) -> String {
    if features.contains(&all) {
        return "with all".to_owned();
    }
    let names: Vec<&str> = features.iter().map(|name| if name.is_empty() { "none" } else { *name }).collect();
    format!("with {}", names.join(", "))
}

const HEAD: &str = "# tokio's public items against the drop-in's

Written by `gmp-conformance api`, from rustdoc's pages of both. Items are modules, types, traits, functions and macros,
each with its whole declaration; parts are methods, constants, and implementations, those of auto traits included, with
their signatures and bounds.

";
