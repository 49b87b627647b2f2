//! The arguments of the table of workloads.

use crate::cli::{Arguments, BadArgument};
use crate::rt::Tokio;
use crate::{memory, plan, workloads};

/// What `--help` prints.
pub const USAGE: &str = "\
Runs every workload on gmp, on tokio, on smol and in Go, in turns, and prints medians and the ratio of gmp to tokio.

usage: gmp-benches [--only NAME]... [--quick] [--reps N] [--procs N] [--json FILE] [--without NAME]... [--sysmon-cost]

  --only NAME     run this workload only; may be given several times
  --quick         3 repetitions instead of 11, 1 of the slow rows; under a minute on 2 cores
  --reps N        repetitions of each workload on each side (1 to 1000); wins over --quick, wherever it stands
  --procs N       gmp's Ps, tokio's workers, smol's threads and Go's GOMAXPROCS (1 to 1024, 2 unless told; the limits
                  hold for 2 and, on two cores, 64)
  --json FILE     also write one JSON object a line for each row
  --without NAME  leave out a column: smol or go. Go is left out by itself where there is no `go` command
  --sysmon-cost   measure another thing: the scheduler's rows of gmp with and without its monitor thread, and how often
                  an idle runtime wakes up; --only can name the scheduler's rows then, and --without has no meaning
  --idle-tasks NAME  what the program starts itself with: print how many bytes an idle task of gmp, tokio or smol takes";

const FLAGS: [&str; 8] =
    ["--only", "--quick", "--reps", "--procs", "--json", "--without", "--sysmon-cost", memory::FLAG];
const REPS: usize = 11;
const REPS_QUICK: usize = 3;

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// The table of workloads.
    Table,
    /// What the monitor thread costs.
    SysmonCost,
    /// The child's part of a row: the memory of idle tasks on the runtime of this name.
    IdleTasks(&'static str),
}

/// What to run, and how often.
#[derive(Debug)]
pub struct Options {
    /// What to do.
    pub task: Task,
    /// The workloads to run; empty: all.
    pub only: Vec<String>,
    /// Repetitions of each workload on each side.
    pub reps: usize,
    /// Whether rows that take long are to be shorter still.
    pub quick: bool,
    /// gmp's Ps, tokio's workers, smol's threads and Go's `GOMAXPROCS`.
    pub procs: usize,
    /// The file to write JSON lines to.
    pub json: Option<String>,
    /// Whether smol has a column.
    pub smol: bool,
    /// Whether Go has a column.
    pub go: bool,
}

impl Options {
    /// Parses the command line.
    ///
    /// # Errors
    ///
    /// An argument is unknown or its value is not allowed.
    pub fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let mut options = Options::default();
        let mut reps = None;
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--only" => options.only.push(workload_name(&mut arguments)?),
                "--quick" => (options.quick, options.reps) = (true, REPS_QUICK),
                "--reps" => reps = Some(arguments.number(&flag, 1..=1000)?),
                "--procs" => options.procs = arguments.number(&flag, 1..=1024)?,
                "--json" => options.json = Some(arguments.value(&flag, "the path of a file")?),
                "--without" => options.leave_out(arguments.one_of(&flag, &["smol", "go"])?),
                "--sysmon-cost" => options.task = Task::SysmonCost,
                memory::FLAG => options.task = Task::IdleTasks(arguments.one_of(&flag, &memory::RUNTIMES)?),
                _ => return Err(BadArgument::unknown(&flag, &FLAGS)),
            }
        }
        // A number that was asked for holds for every row, wherever `--quick` stands.
        if let Some(reps) = reps {
            (options.quick, options.reps) = (false, reps);
        }
        options.check()?;
        Ok(options)
    }

    /// What could not be measured as it was asked for must not be passed over in silence.
    fn check(&self) -> Result<(), BadArgument> {
        if self.task != Task::SysmonCost {
            return Ok(());
        }
        if !(self.smol && self.go) {
            return Err(BadArgument::together("--sysmon-cost", "--without"));
        }
        let rows: Vec<_> = workloads::scheduler::<Tokio>().iter().map(|workload| workload.name).collect();
        let allowed = || format!("one of {} with --sysmon-cost", rows.join(", "));
        let other = self.only.iter().find(|name| !rows.contains(&name.as_str()));
        other.map_or(Ok(()), |name| Err(BadArgument::value("--only", name, &allowed())))
    }

    fn leave_out(&mut self, column: &str) {
        match column {
            "smol" => self.smol = false,
            _ => self.go = false,
        }
    }

    /// Whether the workload of this name is to be run.
    pub fn selects(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|it| it == name)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            task: Task::Table,
            only: Vec::new(),
            reps: REPS,
            quick: false,
            procs: 2,
            json: None,
            smol: true,
            go: true,
        }
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
    fn a_number_of_repetitions_wins_over_quick_wherever_it_stands() {
        for arguments in [["--quick", "--reps", "11"], ["--reps", "11", "--quick"]] {
            let options = Options::parse(Arguments::new(arguments)).unwrap();
            assert_eq!((options.quick, options.reps), (false, 11), "{arguments:?}");
        }
        let options = Options::parse(Arguments::new(["--quick"])).unwrap();
        assert_eq!((options.quick, options.reps), (true, REPS_QUICK));
    }

    #[test]
    fn what_the_monitor_thread_costs_is_not_asked_of_other_rows_or_columns() {
        let parse = |arguments: &[&str]| {
            let arguments = arguments.iter().copied().chain(["--sysmon-cost"]);
            Options::parse(Arguments::new(arguments)).map_err(|error| error.to_string())
        };
        assert!(parse(&["--only", "mpsc_1"]).is_ok());
        let error = parse(&["--only", "mpsc_1", "--only", "echo_1"]).unwrap_err();
        assert!(error.starts_with("--only can't be `echo_1`: it must be one of spawn_local, "), "{error}");
        let error = parse(&["--without", "go"]).unwrap_err();
        assert_eq!(error, "--sysmon-cost and --without can't be given together");
    }

    #[test]
    fn a_column_can_be_left_out() {
        let options = Options::parse(Arguments::new(["--without", "go"])).unwrap();
        assert!(options.smol && !options.go);
        let error = Options::parse(Arguments::new(["--without", "tokio"])).unwrap_err().to_string();
        assert_eq!(error, "--without can't be `tokio`: it must be smol or go");
    }

    #[test]
    fn the_child_is_told_its_runtime() {
        let options = Options::parse(Arguments::new(["--idle-tasks", "smol", "--procs", "4"])).unwrap();
        assert_eq!((options.task, options.procs), (Task::IdleTasks("smol"), 4));
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
