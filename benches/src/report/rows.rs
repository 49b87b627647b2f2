//! Rows that one program writes and `report` reads: of `http_mix`, `promise` and `stall`.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::json::number;
use super::{Column, Goal, decimals, or_dash};

/// The runtime that a row is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    #[default]
    Gmp,
    /// gmp with sysmon off.
    #[serde(rename = "gmp_no_sysmon")]
    #[value(name = "gmp_no_sysmon")]
    GmpWithoutSysmon,
    Tokio,
    /// Go, where a row has it.
    Go,
}

impl Side {
    /// The side's name on command lines and in JSON.
    pub fn key(self) -> &'static str {
        if self == Side::GmpWithoutSysmon { "gmp_no_sysmon" } else { self.name() }
    }

    /// The side's name for readers.
    pub fn name(self) -> &'static str {
        match self {
            Side::Gmp => "gmp",
            Side::GmpWithoutSysmon => "no sysmon",
            Side::Tokio => "tokio",
            Side::Go => "go",
        }
    }
}

/// The requests under one load on one side. Latencies are in milliseconds, and are those of the
/// requests that don't hold their thread.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Mix {
    pub workload: String,
    pub side: Side,
    /// What some of the requests did to their thread.
    pub variant: String,
    pub percent: u64,
    pub rate: u64,
    pub procs: usize,
    /// The number of servers, measured one after the other.
    pub reps: usize,
    /// How long each server was measured, in seconds.
    pub secs: u64,
    /// Whether both kinds of requests went over the same connections.
    pub shared: bool,
    /// Whether every request had a new connection.
    pub fresh: bool,
    pub requests: u64,
    pub failed: u64,
    pub holding_requests: u64,
    pub holding_failed: u64,
    pub unit: String,
    pub p50: f64,
    pub p99: f64,
    pub p99_9: f64,
    pub max: f64,
    pub curve: Vec<(f64, f64)>,
    /// The p99 over the p99 of the same side's `plain`: the median of the rounds.
    #[serde(deserialize_with = "number")]
    pub times_plain: f64,
    pub times_plain_range: [f64; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
    #[serde(flatten)]
    pub sending: Sending,
    pub threads: u64,
    pub cpu_s: f64,
    pub context_switches: u64,
    /// The share of the cores that the server and the generator used.
    pub busy: f64,
}

impl Mix {
    pub const COLUMNS: [Column<Mix>; 21] = [
        ("variant", 8, |row| row.variant.clone()),
        ("on", 15, |row| row.side.name().to_owned()),
        ("requests", 10, |row| row.requests.to_string()),
        ("failed", 7, |row| (row.failed + row.holding_failed).to_string()),
        ("p50", 9, |row| decimals(row.p50)),
        ("p99", 9, |row| decimals(row.p99)),
        ("p99.9", 9, |row| decimals(row.p99_9)),
        ("max", 10, |row| decimals(row.max)),
        ("x plain", 10, |row| decimals(row.times_plain)),
        ("in rounds", 20, |row| row.times_plain_range.map(decimals).join("..")),
        ("limit", 6, |row| or_dash(row.limit.map(decimals))),
        ("met", 7, |row| or_dash(row.limit.map(|limit| Goal { limit, aim: 0.0 }.met(row.times_plain)))),
        ("sent p99", 9, |row| decimals(row.sending.sent_p99)),
        ("served", 9, |row| decimals(row.sending.served_p99)),
        ("late p99", 9, |row| decimals(row.sending.sent_late_p99)),
        ("late max", 9, |row| decimals(row.sending.sent_late_max)),
        ("no conn", 8, |row| row.sending.no_connection.to_string()),
        ("threads", 8, |row| row.threads.to_string()),
        ("CPU s", 7, |row| decimals(row.cpu_s)),
        ("switches", 9, |row| row.context_switches.to_string()),
        ("busy", 6, |row| format!("{:.0}%", row.busy * 100.0)),
    ];
}

/// What the generator and the server have to do with the latencies of the requests that don't hold
/// their thread, in milliseconds.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Sending {
    /// The p99 from the moment of sending, or from the due moment if every connection was waiting
    /// for an answer.
    pub sent_p99: f64,
    /// The same until the answer has arrived at the client's socket: the server's part of the p99.
    /// The client's thread may get a core later.
    pub served_p99: f64,
    pub sent_late_p99: f64,
    pub sent_late_max: f64,
    /// Requests that were sent late because each connection was waiting for an answer.
    pub no_connection: u64,
}

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
    /// The median of the repetitions' medians, as `p99` and `thread_p99` are medians.
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
    pub threads: Option<u64>,
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

/// Something that lasted, in milliseconds since the beginning of the scene. A tick lasts no time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// The line of the drawing: a processor, a machine, or the ticks of a runtime.
    pub track: String,
    pub kind: Kind,
    /// Where the task was spawned, or the processor that the machine held.
    pub name: String,
    /// What the thread did in the kernel, if it was seen there.
    pub asleep_in: Option<String>,
    pub begin: f64,
    pub end: f64,
}

/// What a [`Bar`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Tick,
    /// A processor ran a task.
    Ran,
    /// A machine held a processor.
    Held,
    /// A machine went on with a poll after it had lost its processor.
    WentOn,
}
