//! The progress of a run on standard error, if that is a terminal. Twenty lines need no dependency.

use std::io::{self, IsTerminal};

use crate::measure::Turns;

const WIDTH: usize = 30;

/// A line that is overwritten again and again.
#[derive(Debug)]
pub struct Progress {
    rows: usize,
    terminal: bool,
}

impl Progress {
    /// Starts the line for a run of this many rows.
    pub fn new(rows: usize) -> Self {
        Progress { rows, terminal: io::stderr().is_terminal() }
    }

    /// Reports that row `row` (from 0 on) takes its turn number `rep` (from 0 on).
    pub fn show(&self, row: usize, turns: &Turns, rep: usize) {
        if self.terminal {
            eprint!("\r\x1b[2K{}", bar(row, self.rows, turns, rep));
        }
    }

    /// Clears the line before a row of the table is printed.
    pub fn clear(&self) {
        if self.terminal {
            eprint!("\r\x1b[2K");
        }
    }
}

fn bar(row: usize, rows: usize, turns: &Turns, rep: usize) -> String {
    let of = turns.repetitions();
    let filled = (row * of + rep) * WIDTH / (rows * of);
    let (done, left) = ("#".repeat(filled), "-".repeat(WIDTH - filled));
    format!("[{done}{left}] row {} of {rows}: {}, repetition {} of {of}", row + 1, turns.workload, rep + 1)
}
