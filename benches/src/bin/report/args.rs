//! The arguments of `report`.

use std::path::PathBuf;

use gmp_benches::cli::{Arguments, BadArgument};

use crate::part::Part;

pub(crate) const USAGE: &str = "\
Measures everything, gmp beside tokio, and writes an HTML report with plots, or makes the report from results of before.

usage: report [--quick] [--only PART]... [--saved] [--dir DIR] [--svg FILE]

  --quick      fewer and shorter repetitions: two to three minutes instead of about eighteen
  --only PART  measure this part only and take the others as they were saved; may be given several times. The parts:
               table (all workloads, 2 Ps), procs (the scheduler's with 1 to 64 Ps), mix (HTTP), ticker (the promise),
               sysmon (what gmp's monitor thread costs)
  --saved      measure nothing: the report is made from what was saved
  --dir DIR    where results are saved and report.html and side-by-side.svg are written (target/report unless told)
  --svg FILE   also write the SVG of all ratios there

The results are JSON lines: table.jsonl, procs-N.jsonl, mix*.jsonl, ticker.jsonl, sysmon.jsonl, and minutes.jsonl if
`http_mix --minutes` was told to write it there. What is missing is missing in the report, which says how to measure it.";

const FLAGS: [&str; 5] = ["--quick", "--only", "--saved", "--dir", "--svg"];

/// What to measure and where to write.
#[derive(Debug)]
pub(crate) struct Options {
    /// The parts to be measured.
    pub(crate) measure: Vec<Part>,
    /// Fewer repetitions.
    pub(crate) quick: bool,
    /// Where results are.
    pub(crate) dir: PathBuf,
    /// A second place for the SVG.
    pub(crate) svg: Option<PathBuf>,
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let mut options = Options { measure: Vec::new(), quick: false, dir: "target/report".into(), svg: None };
        let mut saved = false;
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--quick" => options.quick = true,
                "--only" => options.measure.push(part(&mut arguments)?),
                "--saved" => saved = true,
                "--dir" => options.dir = arguments.value(&flag, "the path of a directory")?.into(),
                "--svg" => options.svg = Some(arguments.value(&flag, "the path of a file")?.into()),
                _ => return Err(BadArgument::unknown(&flag, &FLAGS)),
            }
        }
        match (saved, options.measure.first()) {
            (true, Some(part)) => Err(BadArgument::value("--only", part.name(), "left out with --saved")),
            (false, None) => Ok(Options { measure: Part::ALL.to_vec(), ..options }),
            _ => Ok(options),
        }
    }
}

fn part(arguments: &mut Arguments) -> Result<Part, BadArgument> {
    let names = Part::ALL.map(Part::name).join(", ");
    let allowed = format!("one of {names}");
    let name = arguments.value("--only", &allowed)?;
    let part = Part::ALL.into_iter().find(|part| part.name() == name);
    part.ok_or_else(|| BadArgument::value("--only", &name, &allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options, String> {
        Options::parse(Arguments::new(arguments.iter().copied())).map_err(|error| error.to_string())
    }

    #[test]
    fn everything_is_measured_unless_told() {
        assert_eq!(parse(&[]).unwrap().measure, Part::ALL);
        assert_eq!(parse(&["--only", "mix"]).unwrap().measure, [Part::Mix]);
        assert!(parse(&["--saved"]).unwrap().measure.is_empty());
    }

    #[test]
    fn an_unknown_part_is_named_and_the_known_ones_listed() {
        let error = parse(&["--only", "everything"]).unwrap_err();
        assert_eq!(error, "--only can't be `everything`: it must be one of table, mix, ticker, procs, sysmon");
    }

    #[test]
    fn nothing_and_something_cannot_both_be_measured() {
        assert!(parse(&["--saved", "--only", "table"]).unwrap_err().starts_with("--only can't be `table`"));
    }
}
