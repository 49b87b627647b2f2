//! How late a ticker or a spawn was on one side: `promise` writes it and `report` reads it.

use serde::{Deserialize, Serialize, Serializer};

use super::json::{number, rounded};
use crate::side::Side;

/// The lateness of one row on one side, in milliseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ticker {
    /// The task that was late.
    #[serde(default)]
    pub workload: String,
    /// The row's name.
    pub hogs: String,
    /// The runtime.
    pub side: Side,
    /// The number of Ps or workers.
    pub procs: usize,
    /// The length of one repetition.
    pub secs: u64,
    /// Missing in results from before there were repetitions.
    #[serde(default = "one")]
    pub reps: usize,
    /// `ms`.
    #[serde(default)]
    pub unit: String,
    /// The number of ticks in all repetitions.
    pub ticks: u64,
    /// The median of the repetitions' medians; `p99` and `thread_p99` are medians of the
    /// repetitions, too.
    #[serde(serialize_with = "thousandths", deserialize_with = "number")]
    pub p50: f64,
    /// 99 % of the ticks are at or below this lateness.
    #[serde(serialize_with = "thousandths", deserialize_with = "number")]
    pub p99: f64,
    /// The lowest and the highest p99 of the repetitions.
    pub p99_range: Option<(f64, f64)>,
    /// The maximum of all ticks; the curve is of all ticks, too.
    #[serde(deserialize_with = "number")]
    pub max: f64,
    /// Percentiles and their lateness.
    pub curve: Vec<(f64, f64)>,
    /// The p99 of a plain thread that ticks at the same time.
    #[serde(serialize_with = "thousandths", deserialize_with = "number")]
    pub thread_p99: f64,
    /// The limit of the p99, for gmp only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// A better value than the limit, which gmp aims at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aim: Option<f64>,
    /// The highest number at once.
    pub threads: Option<u64>,
    /// The median of the repetitions.
    pub cpu_s: Option<f64>,
}

fn one() -> usize {
    1
}

fn thousandths<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    rounded(*value, 3).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_before_there_were_repetitions_can_still_be_read() {
        let line = r#"{"hogs":"a","side":"gmp","procs":2,"secs":2,"ticks":9,"p50":1,"p99":1,"max":1,"curve":[],"thread_p99":1}"#;
        let row: Ticker = serde_json::from_str(line).unwrap();
        assert_eq!((row.reps, row.p99_range), (1, None));
    }
}
