//! Compares the counts of an executor with a committed table.

use std::path::Path;

use crate::Subject;
use crate::table::{Row, Table};
use crate::{jobs, places, scenarios};

/// Counts, prints the counts beside those of the table, and panics if an operation takes more
/// transfers than the table allows.
///
/// The variable `GMP_LINES` asks for something else: with `update` the table is written; with the
/// name of a row the places that ask for its lines are printed.
///
/// # Panics
///
/// If more lines change hands than the table allows, or the table can't be read or written.
pub fn budget<S: Subject>(table: &Path) {
    let wish = std::env::var("GMP_LINES").unwrap_or_default();
    if let Some(scenario) = scenarios::all::<S>().into_iter().find(|scenario| scenario.name == wish) {
        return places::print(&scenario);
    }
    let measured = Table { rows: jobs::run_all::<S>() };
    if wish == "update" {
        return measured.write(table);
    }
    let committed = Table::read(table);
    measured.print(&committed);
    let worse: Vec<&Row> = measured.worse_than(&committed).collect();
    assert!(worse.is_empty(), "more lines change hands than {} allows: {worse:#?}", table.display());
}
