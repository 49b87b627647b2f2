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
    pub fn show(&self, row: usize, turns: Turns<'_>, rep: usize) {
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

fn bar(row: usize, rows: usize, turns: Turns<'_>, rep: usize) -> String {
    let of = turns.repetitions();
    let filled = (row * of + rep) * WIDTH / (rows * of);
    let (done, left) = ("#".repeat(filled), "-".repeat(WIDTH - filled));
    format!("[{done}{left}] row {} of {rows}: {}, repetition {} of {of}", row + 1, turns.workload, rep + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills_from_the_first_repetition_of_the_first_row_to_the_last_of_the_last() {
        let turns = Turns { workload: "mpsc_1", reps: 9, warm_up: true };
        let filled = |row, rep| bar(row, 3, turns, rep).matches('#').count();
        assert_eq!([filled(0, 0), filled(1, 5), filled(2, 9)], [0, 15, 29]);
        let empty = "-".repeat(WIDTH);
        assert_eq!(bar(0, 3, turns, 0), format!("[{empty}] row 1 of 3: mpsc_1, repetition 1 of 10"));
    }
}
