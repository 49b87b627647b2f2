//! The arguments of the table of workloads, and what the command lines of all programs share.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};

use crate::measure::Turns;
use crate::memory;
use crate::rt::Tokio;
use crate::workloads::{self, Group, Workload};

const REPS: usize = 11;
const REPS_QUICK: usize = 3;
/// A process that starts and spawns a million tasks takes a second or two, and its successor gives
/// the same result within 1 %.
const REPS_MEMORY: usize = 3;

/// Runs every workload on gmp, on tokio, on smol and in Go, in turns, and prints medians and the
/// ratio of gmp to tokio.
#[derive(Debug, Parser)]
#[command(name = "gmp-benches")]
pub struct Options {
    /// Run this workload only; may be given several times
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(workloads::all::<Tokio>().iter().map(|row| row.name)))]
    pub only: Vec<String>,
    /// 3 repetitions instead of 11, 1 of the slow rows; under a minute on 2 cores
    #[arg(long)]
    quick: bool,
    /// Repetitions of each workload on each side (1 to 1000; 11 by default); wins over --quick
    #[arg(long, value_name = "N", value_parser = number::<usize>(1..=1000))]
    reps: Option<usize>,
    /// gmp's Ps, tokio's workers, smol's threads and Go's GOMAXPROCS (1 to 1024; the limits hold
    /// for 2 and, on two cores, 64)
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = number::<usize>(1..=1024))]
    pub procs: usize,
    /// Also write one JSON object per line for each row
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Leave out a column. Go is left out anyway if there is no `go` command
    #[arg(long, value_name = "NAME", value_parser = ["smol", "go"], conflicts_with = "sysmon_cost")]
    without: Vec<String>,
    /// Measure something else: the scheduler's rows on gmp with and without its monitor thread, and
    /// how often an idle runtime wakes up; --only can name only the scheduler's rows then
    #[arg(long)]
    pub sysmon_cost: bool,
    /// For the program's own use: print how many bytes an idle task of this runtime takes
    #[arg(long, value_name = "NAME", hide = true, value_parser = memory::RUNTIMES)]
    pub idle_tasks: Option<String>,
}

impl Options {
    /// Repetitions of each workload on each side.
    pub fn reps(&self) -> usize {
        self.reps.unwrap_or(if self.quick { REPS_QUICK } else { REPS })
    }

    /// Whether `column`, smol or go, is included.
    pub fn has(&self, column: &str) -> bool {
        let is_built = cfg!(feature = "smol") || column != "smol";
        is_built && !self.without.iter().any(|it| it == column)
    }

    /// The rows that were asked for, in the order of the table.
    pub fn turns(&self) -> Vec<Turns> {
        let is_asked_for = |row: &Workload<_>| self.only.is_empty() || self.only.iter().any(|it| it == row.name);
        let rows = workloads::all::<Tokio>().into_iter().filter(is_asked_for);
        rows.map(|row| self.turns_of(&row)).collect()
    }

    /// Long rows are shortened even more, unless the user asked for a number, which holds for all.
    fn turns_of(&self, row: &Workload<Tokio>) -> Turns {
        let is_short = self.quick && self.reps.is_none() && row.slow;
        let reps = match row.group {
            _ if is_short => 1,
            Group::Memory => self.reps().min(REPS_MEMORY),
            _ => self.reps(),
        };
        Turns { workload: row.name, reps, warm_up: !is_short && row.group != Group::Memory }
    }
}

pub fn number<T: TryFrom<u64> + Clone + Send + Sync>(range: RangeInclusive<u64>) -> RangedU64ValueParser<T> {
    RangedU64ValueParser::new().range(range)
}

pub fn seconds(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = Duration> {
    number(range).map(Duration::from_secs)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn options(arguments: &[&str]) -> Options {
        Options::parse_from(["gmp-benches"].iter().chain(arguments))
    }

    #[test]
    fn slow_rows_are_made_once_if_quick_and_the_memory_of_a_million_tasks_never_a_thousand_times() {
        let quick: &[&str] = &["--quick"];
        for (arguments, workload, reps, warm_up) in [
            (quick, "echo_1000", 1, false),
            (quick, memory::NAME, 1, false),
            (quick, "echo_64", 3, true),
            (&["--reps", "1000"], memory::NAME, 3, false),
            (&["--reps", "1000", "--quick"], "echo_1000", 1000, true),
        ] {
            let turns = options(arguments).turns();
            assert!(turns.contains(&Turns { workload, reps, warm_up }), "{arguments:?} {workload}: {turns:?}");
        }
    }
}
