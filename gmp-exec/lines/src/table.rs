//! A committed table.

use std::fmt::Write;
use std::path::Path;

use crate::scenarios::PROCESSORS;

const HEAD: &str = "\
# Cache lines that must come from another core, for each operation, in a simulation with 8, 16 and 64 processors.
# Written by gmp-exec/lines, with GMP_LINES=update; docs/many-cores.md says what the numbers mean.

";

/// How much more than the committed number is allowed: a part of it, and a constant for the small
/// ones. A change of unrelated code moves numbers by a little.
const MARGIN: f64 = 0.1;
const MARGIN_LINES: f64 = 0.05;

#[derive(Debug)]
pub(super) struct Table {
    pub(super) rows: Vec<Row>,
}

#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: String,
    /// One for each of [`PROCESSORS`].
    pub(super) transfers: [f64; PROCESSORS.len()],
}

impl Row {
    pub(super) fn new(name: &str) -> Row {
        Row { name: name.to_owned(), transfers: [0.0; PROCESSORS.len()] }
    }

    /// `name = [1.00, 2.00, 3.00]`
    fn parse(line: &str) -> Option<Row> {
        let (name, numbers) = line.split_once(" = ")?;
        let numbers = numbers.strip_prefix('[')?.strip_suffix(']')?;
        let transfers: Vec<f64> = numbers.split(", ").map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Row { name: name.to_owned(), transfers: transfers.try_into().ok()? })
    }

    fn is_within(&self, limit: &Row) -> bool {
        let pairs = self.transfers.iter().zip(&limit.transfers);
        pairs.into_iter().all(|(is, was)| *is <= was * (1.0 + MARGIN) + MARGIN_LINES)
    }
}

impl Table {
    pub(super) fn read(path: &Path) -> Table {
        let text = std::fs::read_to_string(path).expect("the table is committed");
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        Table { rows: lines.map(|line| Row::parse(line).unwrap_or_else(|| panic!("not a row: {line}"))).collect() }
    }

    pub(super) fn write(&self, path: &Path) {
        let mut text = HEAD.to_owned();
        for Row { name, transfers: [a, b, c] } in &self.rows {
            writeln!(text, "{name} = [{a:.2}, {b:.2}, {c:.2}]").expect("a string takes everything");
        }
        std::fs::write(path, text).expect("the table can be written");
    }

    pub(super) fn print(&self, committed: &Table) {
        println!("{:18}{:>22}{:>33}", "transfers", "now", "committed");
        for row in &self.rows {
            let numbers = |row: &Row| row.transfers.map(|number| format!("{number:10.2}")).concat();
            println!("{:18}{} |{}", row.name, numbers(row), committed.row(&row.name).map(numbers).unwrap_or_default());
        }
    }

    /// The rows that take more than the limits allow, or have no limits.
    pub(super) fn worse_than<'a>(&'a self, limits: &'a Table) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter(|row| !limits.row(&row.name).is_some_and(|limit| row.is_within(limit)))
    }

    fn row(&self, name: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.name == name)
    }
}

#[test]
fn lines_table_has_limits() {
    let limits = || Table { rows: vec![Row::parse("steal = [1.00, 2.00, 0.00]").expect("a row")] };
    let judge = |row: &str| Table { rows: vec![Row::parse(row).expect("a row")] }.worse_than(&limits()).count();
    assert_eq!(judge("steal = [1.00, 2.10, 0.04]"), 0);
    assert_eq!(judge("steal = [1.00, 2.00, 0.06]"), 1);
    assert_eq!(judge("steal = [1.20, 2.00, 0.00]"), 1);
    assert_eq!(judge("wake = [0.00, 0.00, 0.00]"), 1, "a row without limits");
    assert!(Row::parse("steal = [1.00, 2.00]").is_none());
}
