//! A row of `http_mix`: what that program writes, and `report` reads.

use serde::{Deserialize, Serialize};

use super::json::number;
use crate::side::Side;

/// The requests under one load on one side. Latencies are in milliseconds, and those of the
/// requests that don't hold their thread.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Mix {
    /// `http_mix`.
    pub workload: String,
    /// What the server ran on.
    pub side: Side,
    /// What some of the requests did to their thread.
    pub variant: String,
    /// How many percent did.
    pub percent: u64,
    /// Requests a second.
    pub rate: u64,
    /// Ps or workers of the server.
    pub procs: usize,
    /// Servers that were measured, one after the other.
    pub reps: usize,
    /// How long each of them was measured.
    pub secs: u64,
    /// Whether both kinds of requests went over the same connections.
    pub shared: bool,
    /// Whether there was a new connection for every request.
    #[serde(default)]
    pub fresh: bool,
    /// Those that don't hold their thread.
    pub requests: u64,
    /// How many of these failed.
    pub failed: u64,
    /// Those that do.
    pub holding_requests: u64,
    /// How many of these failed.
    pub holding_failed: u64,
    /// The latencies' unit, `ms`.
    pub unit: String,
    /// The median.
    #[serde(deserialize_with = "number")]
    pub p50: f64,
    /// What 99 % are at or below.
    #[serde(deserialize_with = "number")]
    pub p99: f64,
    /// What 99.9 % are at or below.
    #[serde(deserialize_with = "number")]
    pub p99_9: f64,
    /// The longest.
    #[serde(deserialize_with = "number")]
    pub max: f64,
    /// Percentiles and the latencies there.
    #[serde(default)]
    pub curve: Vec<(f64, f64)>,
    /// The p99 over the same side's without handlers that hold their thread: the median of the
    /// rounds.
    #[serde(deserialize_with = "number")]
    pub times_plain: f64,
    /// The lowest and the highest of them.
    pub times_plain_range: [f64; 2],
    /// Of `times_plain`. Something is promised for gmp only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Whether it was kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// The p99 from the moment of sending, or from the due one if every connection was waiting for
    /// an answer: the server's part of the p99.
    #[serde(deserialize_with = "number")]
    pub served_p99: f64,
    /// How late the generator itself sent.
    #[serde(deserialize_with = "number")]
    pub sent_late_p99: f64,
    /// The latest.
    #[serde(deserialize_with = "number")]
    pub sent_late_max: f64,
    /// Requests that were sent late because each connection was waiting for an answer.
    pub no_connection: u64,
    /// The server's, the most at once.
    pub threads: Option<u64>,
    /// The server's, in one repetition.
    pub cpu_s: Option<f64>,
    /// The server's, in one repetition.
    pub context_switches: Option<u64>,
    /// The share of the cores that server and generator used.
    pub busy: Option<f64>,
}

/// A minute of a long run: what `http_mix --minutes` writes, and `report` reads.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Minute {
    /// `http_mix_minutes`.
    pub workload: String,
    /// What the server ran on.
    pub side: Side,
    /// Its number, from 1 on.
    pub minute: u32,
    /// Requests a second.
    pub rate: u64,
    /// Those that don't hold their thread.
    pub requests: u64,
    /// How many of all requests failed.
    pub failed: u64,
    /// In milliseconds, as the following five.
    #[serde(deserialize_with = "number")]
    pub p50: f64,
    /// What 99 % are at or below.
    #[serde(deserialize_with = "number")]
    pub p99: f64,
    /// The longest.
    pub max: f64,
    /// From the moment of sending: without the generator's lateness.
    pub served_p99: f64,
    /// How late the generator itself sent.
    pub sent_late_p99: f64,
    /// The latest.
    pub sent_late_max: f64,
    /// Requests that were sent late because each connection was waiting for an answer.
    pub no_connection: u64,
    /// The server's, in this minute.
    pub cpu_s: f64,
    /// The server's memory in bytes.
    pub rss: u64,
    /// The server's, the most at once.
    pub threads: u64,
    /// The server's.
    pub descriptors: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_is_promised_of_tokio() {
        let line = concat!(
            r#"{"workload":"http_mix","side":"gmp_no_sysmon","variant":"plain","percent":0,"rate":840,"procs":2,"#,
            r#""reps":1,"secs":2,"shared":false,"fresh":false,"requests":1680,"failed":0,"holding_requests":0,"holding_failed":0,"#,
            r#""unit":"ms","p50":0.1,"p99":1.4,"p99_9":2.9,"max":4.6,"curve":[[50.0,0.1],[100.0,4.6]],"#,
            r#""times_plain":null,"times_plain_range":[0.9,1.2],"served_p99":0.4,"sent_late_p99":1.1,"sent_late_max":2.7,"no_connection":0,"threads":5,"cpu_s":0.2,"#,
            r#""context_switches":6078,"busy":null}"#
        );
        let mix: Mix = serde_json::from_str(line).unwrap();
        assert_eq!((mix.side, mix.limit), (Side::GmpWithoutSysmon, None));
        assert!(mix.times_plain.is_nan());
        assert_eq!(serde_json::to_string(&mix).unwrap(), line);
    }
}
