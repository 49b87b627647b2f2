//! The parts of the report, and the commands that measure them.

use clap::ValueEnum;
use gmp_benches::rt::Tokio;
use gmp_benches::workloads;

/// A part that is measured by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// All workloads with two Ps.
    Table,
    /// The scheduler's workloads with 1 to 64 Ps.
    Procs,
    /// HTTP beside handlers that hold their thread.
    Mix,
    /// A ticker beside tasks that hold their thread.
    Ticker,
    /// The cost of gmp's monitor thread.
    Sysmon,
}

/// A program of this package, its arguments, and the file for its JSON lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) program: &'static str,
    pub(crate) arguments: Vec<String>,
    pub(crate) file: String,
}

impl Command {
    /// `arguments` are separated by spaces.
    fn new(program: &'static str, arguments: &str, file: &str) -> Self {
        let arguments = arguments.split_whitespace().map(str::to_owned).collect();
        Command { program, arguments, file: file.to_owned() }
    }
}

/// The numbers of Ps with which the scheduler's workloads are run.
pub(crate) const PROCS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The loads of [`Part::Mix`]: one that keeps half of the machine busy; one for which tokio has a
/// worker left; and one in which the requests that hold their thread share connections with the
/// rest.
pub(crate) const MIX: [&str; 3] = ["mix.jsonl", "mix-200.jsonl", "mix-shared.jsonl"];

impl Part {
    pub(crate) const ALL: [Part; 5] = [Part::Table, Part::Mix, Part::Ticker, Part::Procs, Part::Sysmon];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Part::Table => "table",
            Part::Procs => "procs",
            Part::Mix => "mix",
            Part::Ticker => "ticker",
            Part::Sysmon => "sysmon",
        }
    }

    /// The programs to run, one after the other.
    pub(crate) fn commands(self, quick: bool) -> Vec<Command> {
        let or_quick = if quick { "--quick" } else { "" };
        match self {
            Part::Table => vec![Command::new("gmp-benches", or_quick, "table.jsonl")],
            Part::Procs => PROCS.into_iter().map(|procs| many_procs(procs, quick)).collect(),
            Part::Sysmon => {
                vec![Command::new("gmp-benches", &format!("--sysmon-cost {or_quick}"), "sysmon.jsonl")]
            }
            Part::Mix if quick => vec![Command::new("http_mix", or_quick, MIX[0])],
            Part::Mix => vec![
                Command::new("http_mix", "", MIX[0]),
                Command::new("http_mix", "--rate 200 --on gmp,tokio", MIX[1]),
                Command::new("http_mix", "--shared --on gmp,tokio", MIX[2]),
            ],
            Part::Ticker => {
                let quickly = if quick { "--secs 1 --reps 3" } else { "" };
                vec![Command::new("promise", &format!("--only ticker: {quickly}"), "ticker.jsonl")]
            }
        }
    }
}

/// The shape of a line through seven points needs fewer repetitions than the height of a single
/// point. smol and Go are not drawn.
fn many_procs(procs: usize, quick: bool) -> Command {
    let reps = if quick { 3 } else { 7 };
    let only: Vec<_> = workloads::scheduler::<Tokio>().iter().map(|it| format!("--only {}", it.name)).collect();
    let arguments = format!("--procs {procs} --reps {reps} --without smol --without go {}", only.join(" "));
    Command::new("gmp-benches", &arguments, &format!("procs-{procs}.jsonl"))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use gmp_benches::args::Options;

    use super::*;

    #[test]
    fn the_tables_program_takes_the_arguments_that_it_is_given() {
        for part in [Part::Table, Part::Procs, Part::Sysmon] {
            for command in [true, false].into_iter().flat_map(|quick| part.commands(quick)) {
                let arguments = [&["gmp-benches".to_owned()], &command.arguments[..]].concat();
                let options = Options::try_parse_from(arguments).and_then(Options::check);
                assert!(options.is_ok(), "{command:?}: {}", options.unwrap_err());
            }
        }
    }

    #[test]
    fn no_two_commands_write_to_one_file() {
        let commands = Part::ALL.into_iter().flat_map(|part| part.commands(false));
        let files: Vec<_> = commands.map(|command| command.file).collect();
        assert_eq!(files.iter().collect::<std::collections::HashSet<_>>().len(), files.len());
    }
}
