//! How late a ticker or a spawn was on one side: `promise` writes it and `report` reads it.

use serde::{Deserialize, Serialize};

use super::{Column, Goal, decimals, or_dash};
use crate::side::Side;

/// The lateness of one row on one side, in milliseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ticker {
    pub workload: String,
    pub hogs: String,
    pub side: Side,
    pub procs: usize,
    pub secs: u64,
    pub reps: usize,
    pub unit: String,
    /// The number of ticks in all repetitions.
    pub ticks: u64,
    /// The median of the repetitions' medians; `p99` and `thread_p99` are medians of the
    /// repetitions, too.
    pub p50: f64,
    pub p99: f64,
    pub p99_range: Option<(f64, f64)>,
    /// The maximum of all ticks; the curve is of all ticks, too.
    pub max: f64,
    pub curve: Vec<(f64, f64)>,
    /// The p99 of a plain thread that ticks at the same time.
    pub thread_p99: f64,
    /// The goal of the p99, for gmp only.
    #[serde(flatten)]
    pub goal: Option<Goal>,
    /// The highest number at once.
    pub threads: Option<u64>,
    /// The median of the repetitions.
    pub cpu_s: Option<f64>,
}

impl Ticker {
    pub const COLUMNS: [Column<Ticker>; 13] = [
        ("row", -42, |row| row.hogs.clone()),
        ("on", -7, |row| row.side.name().to_owned()),
        ("times", 7, |row| row.ticks.to_string()),
        ("p50", 9, |row| decimals(row.p50)),
        ("p99", 9, |row| decimals(row.p99)),
        ("p99 spread", 16, |row| or_dash(row.p99_range.map(|(low, high)| format!("{low:.2}..{high:.2}")))),
        ("max", 9, |row| decimals(row.max)),
        ("thread p99", 12, |row| decimals(row.thread_p99)),
        ("threads", 9, |row| or_dash(row.threads)),
        ("CPU s", 8, |row| or_dash(row.cpu_s.map(decimals))),
        ("limit", 9, |row| or_dash(row.goal.map(|goal| goal.limit))),
        ("aim", 9, |row| or_dash(row.goal.map(|goal| goal.aim))),
        ("p99 met", 9, |row| or_dash(row.goal.map(|goal| goal.met(row.p99)))),
    ];
}
