//! The progress of a run on standard error, if that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

use crate::measure::Turns;

#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    pub fn new(rows: &[Turns]) -> Self {
        let style = ProgressStyle::with_template("[{bar:30}] {msg}").expect("the template is constant and good");
        let repetitions = rows.iter().map(Turns::repetitions).sum::<usize>();
        Progress(ProgressBar::new(repetitions as u64).with_style(style.progress_chars("##-")))
    }

    /// Reports that a row takes its turn number `rep` (from 0 on).
    pub fn show(&self, turns: &Turns, rep: usize) {
        self.0.set_message(format!("{}, repetition {} of {}", turns.workload, rep + 1, turns.repetitions()));
        self.0.inc(1);
    }

    /// Prints a row of the table, without the line.
    pub fn print(&self, row: &str) {
        self.0.suspend(|| println!("{row}"));
    }
}
