//! Compares the counts of an executor with a committed table: as a limit, or as a report that must
//! stay true.

use std::path::Path;

use crate::Subject;
use crate::table::{Row, Table};
use crate::{jobs, places, scenarios};

/// Counts, prints the counts beside those of the table, and panics if an operation takes more
/// transfers than the table allows.
///
/// # Panics
///
/// If more lines change hands than the table allows, or the table can't be read or written.
pub fn budget<S: Subject>(table: &Path) {
    let Some((measured, committed)) = measure::<S>(table) else { return };
    let worse: Vec<&Row> = measured.worse_than(&committed).collect();
    assert!(worse.is_empty(), "more lines change hands than {} allows: {worse:#?}", table.display());
}

/// The same for an executor that is only reported on. An operation must not take fewer transfers
/// than the table says, either.
///
/// # Panics
///
/// If the table is no longer true, or can't be read or written.
pub fn report<S: Subject>(table: &Path) {
    let Some((measured, committed)) = measure::<S>(table) else { return };
    let changed: Vec<&Row> = measured.worse_than(&committed).chain(committed.worse_than(&measured)).collect();
    assert!(changed.is_empty(), "{} is no longer true: {changed:#?}", table.display());
}

/// Counts, and reads the table.
///
/// The variable `GMP_LINES` asks for something else: with `update` the table is written; with the
/// name of a row the places that ask for its lines are printed. Then there is nothing to compare.
fn measure<S: Subject>(table: &Path) -> Option<(Table, Table)> {
    let wish = std::env::var("GMP_LINES").unwrap_or_default();
    if let Some(scenario) = scenarios::all::<S>().into_iter().find(|scenario| scenario.name == wish) {
        places::print(&scenario);
        return None;
    }
    let measured = Table { rows: jobs::run_all::<S>() };
    if wish == "update" {
        measured.write(table);
        return None;
    }
    let committed = Table::read(table);
    measured.print(&committed);
    Some((measured, committed))
}
