//! The parts of the report, and the commands that measure them.

use clap::ValueEnum;
use gmp_benches::rt::Tokio;
use gmp_benches::workloads;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Part {
    /// All workloads with two Ps.
    Table,
    /// HTTP beside handlers that hold their thread.
    Mix,
    /// A ticker beside tasks that hold their thread.
    Ticker,
    /// One stall, recorded.
    Stall,
    /// The scheduler's workloads with 1 to 64 Ps.
    Procs,
    /// The cost of gmp's monitor thread.
    Sysmon,
}

/// A program of this package, and its arguments with spaces between them.
pub(crate) type Command = (&'static str, String);

/// The numbers of Ps with which the scheduler's workloads are run.
const PROCS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// The loads of [`Part::Mix`]: one that keeps half of the machine busy; one for which tokio has a
/// worker left; and one in which the requests that hold their thread share connections.
const MIX: [&str; 3] = ["", "--rate 200 --on gmp,tokio", "--shared --on gmp,tokio"];

impl Part {
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// A file of this part: `jsonl` has the results, `txt` what the programs printed, and
    /// `about.json` how the part was measured.
    pub(crate) fn file(self, kind: &str) -> String {
        format!("{}.{kind}", self.name())
    }

    pub(crate) fn commands(self, quick: bool) -> Vec<Command> {
        let or = |or_quick: &'static str| if quick { or_quick } else { "" };
        match self {
            Part::Table => vec![("gmp-benches", or("--quick").to_owned())],
            Part::Sysmon => vec![("gmp-benches", format!("--sysmon-cost {}", or("--quick")))],
            Part::Stall => vec![("stall", String::new())],
            Part::Ticker => vec![("promise", format!("--only ticker: {}", or("--secs 1 --reps 3")))],
            Part::Procs => PROCS.into_iter().map(|procs| many_procs(procs, quick)).collect(),
            Part::Mix if quick => vec![("http_mix", "--quick".to_owned())],
            Part::Mix => MIX.map(|arguments| ("http_mix", arguments.to_owned())).to_vec(),
        }
    }
}

/// A line's shape needs fewer repetitions than a point's height. smol and Go are not drawn.
fn many_procs(procs: usize, quick: bool) -> Command {
    let reps = if quick { 3 } else { 7 };
    let only: Vec<_> = workloads::scheduler::<Tokio>().iter().map(|it| format!("--only {}", it.name)).collect();
    let arguments = format!("--procs {procs} --reps {reps} --without smol --without go {}", only.join(" "));
    ("gmp-benches", arguments)
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use gmp_benches::args::Options;

    use super::*;

    #[test]
    fn the_tables_program_takes_the_arguments_that_it_is_given() {
        for part in [Part::Table, Part::Procs, Part::Sysmon] {
            for (program, arguments) in [true, false].into_iter().flat_map(|quick| part.commands(quick)) {
                let words = format!("{program} {arguments}");
                let options = Options::try_parse_from(words.split_whitespace());
                assert!(options.is_ok(), "{words}: {}", options.unwrap_err());
            }
        }
    }
}
