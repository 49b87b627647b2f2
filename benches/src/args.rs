//! The arguments of the table of workloads.

use crate::{
    cli::{Arguments, BadArgument},
    plan,
};

/// What `--help` prints.
pub const USAGE: &str = "\
Runs every workload on gmp and on tokio, alternating in one process, and prints medians and their ratio.

usage: gmp-benches [--only NAME]... [--quick] [--reps N] [--procs N] [--json FILE]

  --only NAME   run this workload only; may be given several times
  --quick       3 repetitions instead of 11
  --reps N      repetitions of each workload on each runtime (1 to 1000)
  --procs N     gmp's Ps and tokio's workers (1 to 1024, 2 unless told; the limits hold for 2 and, on two cores, 64)
  --json FILE   also write one JSON object a line for each workload";

const FLAGS: [&str; 5] = ["--only", "--quick", "--reps", "--procs", "--json"];
const REPS: usize = 11;
const REPS_QUICK: usize = 3;

/// What to run, and how often.
#[derive(Debug)]
pub struct Options {
    /// The workloads to run; empty: all.
    pub only: Vec<String>,
    /// Repetitions of each workload on each runtime.
    pub reps: usize,
    /// gmp's Ps and tokio's workers.
    pub procs: usize,
    /// The file to write JSON lines to.
    pub json: Option<String>,
}

impl Options {
    /// Parses the command line.
    ///
    /// # Errors
    ///
    /// An argument is unknown or its value is not allowed.
    pub fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let mut options = Options { only: Vec::new(), reps: REPS, procs: 2, json: None };
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--only" => options.only.push(workload_name(&mut arguments)?),
                "--quick" => options.reps = REPS_QUICK,
                "--reps" => options.reps = arguments.number(&flag, 1..=1000)?,
                "--procs" => options.procs = arguments.number(&flag, 1..=1024)?,
                "--json" => options.json = Some(arguments.value(&flag, "the path of a file")?),
                _ => return Err(BadArgument::unknown(&flag, &FLAGS)),
            }
        }
        Ok(options)
    }

    /// Whether the workload of this name is to be run.
    pub fn selects(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| it == name)
    }
}

fn workload_name(arguments: &mut Arguments) -> Result<String, BadArgument> {
    let names = plan::names();
    let allowed = format!("one of {}", names.join(", "));
    let name = arguments.value("--only", &allowed)?;
    if names.contains(&name.as_str()) { Ok(name) } else { Err(BadArgument::value("--only", &name, &allowed)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_selects_what_it_names() {
        let options = Options::parse(Arguments::new(["--only", "mpsc_1", "--only", "ring_500"])).unwrap();
        assert!(options.selects("mpsc_1") && options.selects("ring_500"));
        assert!(!options.selects("spawn_local"));
    }

    #[test]
    fn an_unknown_workload_is_named_and_the_known_ones_listed() {
        let error = Options::parse(Arguments::new(["--only", "fibonacci"])).unwrap_err().to_string();
        assert!(error.contains("`fibonacci`") && error.contains("chained_spawn"), "{error}");
    }

    #[test]
    fn an_unknown_argument_is_named_and_the_known_ones_listed() {
        let error = Options::parse(Arguments::new(["--fast"])).unwrap_err().to_string();
        assert!(error.contains("`--fast`") && error.contains("--quick"), "{error}");
    }
}
