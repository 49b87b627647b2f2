//! A row of `http_mix`: that program writes it and `report` reads it.

use serde::{Deserialize, Serialize};

use super::json::number;
use super::{Column, Goal, decimals, or_dash};
use crate::side::Side;

/// The requests under one load on one side. Latencies are in milliseconds, and are those of the
/// requests that don't hold their thread.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Mix {
    /// `http_mix`.
    pub workload: String,
    /// The runtime of the server.
    pub side: Side,
    /// What some of the requests did to their thread.
    pub variant: String,
    /// The percentage of the requests that did so.
    pub percent: u64,
    /// Requests per second.
    pub rate: u64,
    /// The number of the server's Ps or workers.
    pub procs: usize,
    /// The number of servers, measured one after the other.
    pub reps: usize,
    /// How long each server was measured, in seconds.
    pub secs: u64,
    /// Whether both kinds of requests went over the same connections.
    pub shared: bool,
    /// Whether every request had a new connection.
    pub fresh: bool,
    /// The number of requests that don't hold their thread.
    pub requests: u64,
    /// How many of these requests failed.
    pub failed: u64,
    /// The number of requests that hold their thread.
    pub holding_requests: u64,
    /// How many of these requests failed.
    pub holding_failed: u64,
    /// The latencies' unit, `ms`.
    pub unit: String,
    /// The median.
    pub p50: f64,
    /// 99 % of the latencies are at or below this one.
    pub p99: f64,
    /// 99.9 % of the latencies are at or below this one.
    pub p99_9: f64,
    /// The longest latency.
    pub max: f64,
    /// Percentiles and their latencies.
    pub curve: Vec<(f64, f64)>,
    /// The p99 over the p99 of the same side without handlers that hold their thread: the median of
    /// the rounds.
    #[serde(deserialize_with = "number")]
    pub times_plain: f64,
    /// The lowest and the highest ratio of the rounds.
    pub times_plain_range: [f64; 2],
    /// The limit of `times_plain`. Only gmp has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Whether the row is within the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    /// The generator's part of the latencies.
    #[serde(flatten)]
    pub sending: Sending,
    /// The highest number of the server's threads at once.
    pub threads: Option<u64>,
    /// The server's CPU time in one repetition.
    pub cpu_s: Option<f64>,
    /// The server's context switches in one repetition.
    pub context_switches: Option<u64>,
    /// The share of the cores that the server and the generator used.
    pub busy: Option<f64>,
}

impl Mix {
    /// The table of results.
    pub const COLUMNS: [Column<Mix>; 20] = [
        ("variant", 8, |row| row.variant.clone()),
        ("on", 15, |row| row.side.name().to_owned()),
        ("requests", 10, |row| row.requests.to_string()),
        ("failed", 7, |row| row.all_failed().to_string()),
        ("p50", 9, |row| decimals(row.p50)),
        ("p99", 9, |row| decimals(row.p99)),
        ("p99.9", 9, |row| decimals(row.p99_9)),
        ("max", 10, |row| decimals(row.max)),
        ("x plain", 10, |row| decimals(row.times_plain)),
        ("in rounds", 20, |row| row.times_plain_range.map(decimals).join("..")),
        ("limit", 6, |row| or_dash(row.limit.map(decimals))),
        ("met", 7, |row| or_dash(row.verdict())),
        ("sent p99", 9, |row| decimals(row.sending.served_p99)),
        ("late p99", 9, |row| decimals(row.sending.sent_late_p99)),
        ("late max", 9, |row| decimals(row.sending.sent_late_max)),
        ("no conn", 8, |row| row.sending.no_connection.to_string()),
        ("threads", 8, |row| or_dash(row.threads)),
        ("CPU s", 7, |row| or_dash(row.cpu_s.map(decimals))),
        ("switches", 9, |row| or_dash(row.context_switches)),
        ("busy", 6, |row| or_dash(row.busy.map(|busy| format!("{:.0}%", busy * 100.0)))),
    ];

    /// How many requests failed, with those that hold their thread.
    pub fn all_failed(&self) -> u64 {
        self.failed + self.holding_failed
    }

    /// `limit` or `MISSED`, if there is a limit.
    pub fn verdict(&self) -> Option<&'static str> {
        self.limit.map(|limit| Goal { limit, aim: 0.0 }.met(self.times_plain))
    }
}

/// How late the generator sent the requests that don't hold their thread, in milliseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Sending {
    /// The p99 from the moment of sending, or from the due moment if every connection was waiting
    /// for an answer: the server's part of the p99.
    pub served_p99: f64,
    /// How late the generator sent requests.
    pub sent_late_p99: f64,
    /// The latest of them.
    pub sent_late_max: f64,
    /// The number of requests that were sent late because each connection was waiting for an
    /// answer.
    pub no_connection: u64,
}

/// A minute of a long run: `http_mix --minutes` writes it and `report` reads it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Minute {
    /// `http_mix_minutes`.
    pub workload: String,
    /// The runtime of the server.
    pub side: Side,
    /// The number of the minute, from 1 on.
    pub minute: u32,
    /// Requests per second.
    pub rate: u64,
    /// The number of requests that don't hold their thread.
    pub requests: u64,
    /// How many of all requests failed.
    pub failed: u64,
    /// The median in milliseconds; the other latencies are in milliseconds, too.
    pub p50: f64,
    /// 99 % of the latencies are at or below this one.
    pub p99: f64,
    /// The longest latency.
    pub max: f64,
    /// The generator's part of the latencies.
    #[serde(flatten)]
    pub sending: Sending,
    /// The server's CPU time in this minute.
    pub cpu_s: f64,
    /// The server's memory in bytes.
    pub rss: u64,
    /// The highest number of the server's threads at once.
    pub threads: u64,
    /// The server's descriptors.
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
