//! The command line. A bad argument is named, with what is allowed.

use std::path::PathBuf;

use gmp_micro::paths::BATCH;

use crate::subject::Subject;

pub(crate) const USAGE: &str = "\
Counts the instructions that gmp's hot paths take per operation, under valgrind, and compares them with instructions.toml.
Exit code 1: a path takes more than its figure and the margin. On another architecture or libc than that of the figures,
which instructions.toml names, the table is printed and nothing checked, which is a failure with --strict only.

usage: gmp-micro [--strict] [--update] [--tokio] [--only PATH]... [--keep DIR]
       gmp-micro --run LIBRARY FLAVOUR PATH OPERATIONS

  --strict      exit with code 1 where the figures can't be checked because they are those of another machine
  --update      make what was counted the figures
  --tokio       count tokio's instructions, too, for a column beside
  --only PATH   count this path only; may be given several times
  --keep DIR    leave callgrind's output there, for callgrind_annotate
  --run ...     run one path in this process and count nothing: what the other form runs under valgrind";

pub(crate) enum Command {
    Help,
    Run { subject: Subject, operations: usize },
    Count(Counting),
}

#[derive(Debug, Default)]
pub(crate) struct Counting {
    /// Whether it is a failure that nothing can be checked.
    pub(crate) strict: bool,
    pub(crate) update: bool,
    tokio: bool,
    /// Empty: all.
    only: Vec<String>,
    pub(crate) keep: Option<PathBuf>,
}

impl Counting {
    pub(crate) fn subjects(&self) -> Vec<Subject> {
        let is_wanted = |it: &Subject| {
            (self.tokio || it.is_gmp()) && (self.is_everything() || self.only.iter().any(|path| path == it.path))
        };
        Subject::all().into_iter().filter(is_wanted).collect()
    }

    /// Whether no path is left out.
    pub(crate) fn is_everything(&self) -> bool {
        self.only.is_empty()
    }
}

pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Command, String> {
    let mut counting = Counting::default();
    while let Some(flag) = arguments.next() {
        match &*flag {
            "--help" | "-h" => return Ok(Command::Help),
            "--run" => return run(&arguments.collect::<Vec<_>>()),
            "--strict" => counting.strict = true,
            "--update" => counting.update = true,
            "--tokio" => counting.tokio = true,
            "--only" => counting.only.push(path(&value(&mut arguments, "--only", "a path")?)?),
            "--keep" => counting.keep = Some(value(&mut arguments, "--keep", "a directory")?.into()),
            _ => {
                let allowed = "--strict, --update, --tokio, --only, --keep, --run";
                return Err(format!("unknown argument `{flag}`; allowed are {allowed}"));
            }
        }
    }
    Ok(Command::Count(counting))
}

fn value(arguments: &mut impl Iterator<Item = String>, flag: &str, what: &str) -> Result<String, String> {
    let value = arguments.next().ok_or_else(|| format!("{flag} needs {what}"))?;
    if value.starts_with("--") { Err(format!("{flag} needs {what} before `{value}`")) } else { Ok(value) }
}

fn path(name: &str) -> Result<String, String> {
    let mut known: Vec<_> = Subject::all().iter().map(|subject| subject.path).collect();
    known.sort_unstable();
    known.dedup();
    if known.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(format!("--only can't be `{name}`: it must be one of {}", known.join(", ")))
}

fn run(arguments: &[String]) -> Result<Command, String> {
    let [library, flavor, path, operations] = arguments else {
        return Err(format!("--run needs LIBRARY FLAVOUR PATH OPERATIONS, not {} arguments", arguments.len()));
    };
    let subject = Subject::named(library, flavor, path).ok_or_else(|| {
        let known: Vec<_> = Subject::all().iter().map(Subject::to_string).collect();
        format!("--run can't be `{library} {flavor} {path}`: it must be one of {}", known.join(", "))
    })?;
    match operations.parse() {
        Ok(operations) if operations % BATCH == 0 => Ok(Command::Run { subject, operations }),
        _ => Err(format!("OPERATIONS can't be `{operations}`: it must be a multiple of {BATCH}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: &[&str]) -> String {
        parse(arguments.iter().map(ToString::to_string)).err().expect("these arguments are bad")
    }

    #[test]
    fn a_bad_argument_is_named_with_what_is_allowed() {
        let cases: [(&[&str], &str, &str); 5] = [
            (&["--fast"], "`--fast`", "--update"),
            (&["--keep", "--strict"], "`--strict`", "--keep needs a directory"),
            (&["--only", "sleep"], "`sleep`", "spawn_join"),
            (&["--run", "smol", "one_worker", "spawn", "100"], "`smol one_worker spawn`", "gmp one_worker spawn"),
            (&["--run", "gmp", "one_worker", "spawn", "7"], "`7`", "multiple of 100"),
        ];
        for (arguments, given, allowed) in cases {
            let error = error(arguments);
            assert!(error.contains(given) && error.contains(allowed), "{error}");
        }
    }
}
