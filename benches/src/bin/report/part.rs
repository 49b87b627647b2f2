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
        let command = |program, arguments: &[&str], file: &str| Command {
            program,
            arguments: arguments.iter().map(|&it| it.to_owned()).collect(),
            file: file.to_owned(),
        };
        let or_quick: &[&str] = if quick { &["--quick"] } else { &[] };
        match self {
            Part::Table => vec![command("gmp-benches", or_quick, "table.jsonl")],
            Part::Procs => PROCS.into_iter().map(|procs| many_procs(procs, quick)).collect(),
            Part::Sysmon => {
                let arguments = [&["--sysmon-cost"], or_quick].concat();
                vec![command("gmp-benches", &arguments, "sysmon.jsonl")]
            }
            Part::Mix if quick => vec![command("http_mix", or_quick, MIX[0])],
            Part::Mix => vec![
                command("http_mix", &[], MIX[0]),
                command("http_mix", &["--rate", "200", "--on", "gmp,tokio"], MIX[1]),
                command("http_mix", &["--shared", "--on", "gmp,tokio"], MIX[2]),
            ],
            Part::Ticker => {
                let quickly: &[&str] = if quick { &["--secs", "1", "--reps", "3"] } else { &[] };
                vec![command("promise", &[&["--only", "ticker:"], quickly].concat(), "ticker.jsonl")]
            }
        }
    }
}

/// The shape of a line through seven points needs fewer repetitions than the height of a single
/// point. smol and Go are not drawn.
fn many_procs(procs: usize, quick: bool) -> Command {
    let reps = if quick { "3" } else { "7" };
    let scheduler = workloads::scheduler::<Tokio>();
    let only = scheduler.iter().flat_map(|workload| ["--only".to_owned(), workload.name.to_owned()]);
    let numbers = ["--procs", &procs.to_string(), "--reps", reps, "--without", "smol", "--without", "go"];
    Command {
        program: "gmp-benches",
        arguments: numbers.map(str::to_owned).into_iter().chain(only).collect(),
        file: format!("procs-{procs}.jsonl"),
    }
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
        let mut files: Vec<_> = commands.map(|command| command.file).collect();
        files.sort();
        let all = files.len();
        files.dedup();
        assert_eq!(files.len(), all);
    }
}
