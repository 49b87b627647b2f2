//! How late a ticker or a spawn was on one side: what `promise` writes, and `report` reads.

use serde::{Deserialize, Serialize, Serializer};

use super::json::{number, rounded};
use crate::side::Side;

/// Latenesses are in milliseconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ticker {
    /// What was late.
    #[serde(default)]
    pub workload: String,
    /// The row's name.
    pub hogs: String,
    /// The runtime.
    pub side: Side,
    /// Its Ps or workers.
    pub procs: usize,
    /// Of one repetition.
    pub secs: u64,
    /// Results of before there were repetitions say nothing of them.
    #[serde(default = "one")]
    pub reps: usize,
    /// `ms`.
    #[serde(default)]
    pub unit: String,
    /// Of all repetitions.
    pub ticks: u64,
    /// The median of the repetitions', as `p99` and `thread_p99`.
    #[serde(serialize_with = "thousandths", deserialize_with = "number")]
    pub p50: f64,
    /// What 99 % are at or below.
    #[serde(serialize_with = "thousandths", deserialize_with = "number")]
    pub p99: f64,
    /// The lowest and the highest of the repetitions'.
    pub p99_range: Option<(f64, f64)>,
    /// Of all ticks, as the curve.
    #[serde(deserialize_with = "number")]
    pub max: f64,
    /// Percentiles and the latenesses there.
    pub curve: Vec<(f64, f64)>,
    /// Of a plain thread that ticks meanwhile.
    #[serde(serialize_with = "thousandths", deserialize_with = "number")]
    pub thread_p99: f64,
    /// What is wanted of the p99, of gmp's only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Better still.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aim: Option<f64>,
    /// The most at once.
    pub threads: Option<u64>,
    /// The median of the repetitions'.
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
