//! `cargo gmp compare`: runs the same command on tokio and on gmp, and reports the differences.
//!
//! Cargo runs both, so that the programs run in their usual environment. Cargo starts each program
//! through this command ([`measure`]), so no figure includes compiling. This process stays cargo's
//! parent, because it starts one cargo after the other.

mod load;
pub(crate) mod measure;
mod outcomes;
mod report;

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail, ensure};
use toml_edit::Array;

use self::load::{Latencies, Load};
use self::measure::{Figures, Folder, VARIABLE};
use self::outcomes::Outcomes;
use crate::alias::Line;
use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::project::Project;
use crate::sources::path_text;
use crate::{configuration, nested, run};

pub(crate) const HELP: &str = "\
Runs the same command on tokio (with cargo) and on gmp, and reports the differences.

Usage: cargo gmp compare [run] [cargo's options] [-- <arguments>]
       cargo gmp compare test [cargo's options] [-- <libtest's options>]
       cargo gmp compare [run] --load <URL> [--rate <N>] [--secs <S>] [cargo's options] [-- <arguments>]

The figures are of the programs alone: wall time, CPU time, peak memory, most threads. The last three are measured on
Linux only, memory and threads every few milliseconds.
With --load the program is a server: as soon as the URL (http://...) answers, the program gets N requests per
second (100) for S seconds (10), then Ctrl-C. Latencies count from the time when a request was due.

The exit code is 1 if exit codes or tests differ.
";

/// The results on one of the two runtimes.
#[derive(Debug)]
pub(crate) struct Side {
    figures: Figures,
    outcomes: Outcomes,
    output: [String; 2],
    latencies: Option<Latencies>,
}

/// The kind of command to compare.
enum Kind {
    Run,
    Test,
    Load(Load),
}

pub(crate) fn compare(arguments: Vec<OsString>) -> Result<ExitCode> {
    let (kind, line) = parse(arguments)?;
    let arguments = Arguments::of(line.before, line.rest);
    let cargo = Cargo::from_env(arguments.offline);
    let project = Project::find(&cargo, &arguments)?;
    if let Some(runner) = configuration::runners(&project.current_directory()?, arguments.target.as_deref())?.first() {
        bail!("programs can't be measured: {} configures a runner", runner.place);
    }
    // Prepared first, because this step reports problems.
    let on_gmp = run::prepare(&cargo, &line.subcommand, &arguments)?;
    let on_tokio = on_tokio(&cargo, &line.subcommand, &arguments, &project)?;
    let sides = [("tokio", on_tokio), ("gmp", on_gmp)];
    let sides = sides.map(|(name, command)| kind.run(command).with_context(|| format!("on {name}")));
    let [tokio, gmp] = sides;
    let is_same = report::print(&tokio?, &gmp?);
    Ok(if is_same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn on_tokio(cargo: &Cargo, subcommand: &OsString, arguments: &Arguments, project: &Project) -> Result<Command> {
    let starter = nested::Folder::make(project)?.plain_starter();
    let words: Array = [path_text(&starter)?].into_iter().collect();
    let mut command = cargo.command();
    command.arg(subcommand).arg("--config").arg(format!("target.'cfg(all())'.runner={words}"));
    command.args(&arguments.before).args(&arguments.all);
    Ok(command)
}

/// Separates this command's own options from cargo's.
fn parse(arguments: Vec<OsString>) -> Result<(Kind, Line)> {
    let mut arguments = arguments.into_iter().peekable();
    let is_test = arguments.next_if(|first| first == "test" || first == "t").is_some();
    if !is_test {
        arguments.next_if(|first| first == "run" || first == "r");
    }
    let (mut url, mut rate, mut secs, mut rest) = (None, None, None, Vec::new());
    while let Some(argument) = arguments.next_if(|argument| argument != "--") {
        let text = argument.to_string_lossy().into_owned();
        let (name, value) = text.split_once('=').map_or((&*text, None), |(name, value)| (name, Some(value.to_owned())));
        let place = match name {
            "--load" => &mut url,
            "--rate" => &mut rate,
            "--secs" => &mut secs,
            _ => {
                rest.push(argument);
                continue;
            }
        };
        let value = value.or_else(|| Some(arguments.next()?.to_string_lossy().into_owned()));
        *place = Some(value.with_context(|| format!("`{name}` needs a value"))?);
    }
    rest.extend(arguments);
    let kind = match url {
        Some(_) if is_test => bail!("`--load` is for programs, not for tests"),
        Some(url) => Kind::Load(Load::new(&url, number("--rate", rate, 100.0)?, number("--secs", secs, 10.0)?)?),
        None => {
            ensure!(rate.is_none() && secs.is_none(), "`--rate` and `--secs` belong to `--load`");
            if is_test { Kind::Test } else { Kind::Run }
        }
    };
    if is_test {
        // A test binary that fails must not keep cargo from running the next ones.
        rest.insert(0, "--no-fail-fast".into());
    }
    let subcommand = if is_test { "test" } else { "run" };
    Ok((kind, Line { before: Vec::new(), subcommand: subcommand.into(), rest }))
}

fn number(name: &str, text: Option<String>, default: f64) -> Result<f64> {
    let number: f64 = match text {
        None => return Ok(default),
        Some(text) => text.parse().with_context(|| format!("`{name} {text}` is not a number"))?,
    };
    ensure!(number > 0.0 && number.is_finite(), "`{name}` has to be more than nothing");
    Ok(number)
}

impl Kind {
    fn run(&self, mut command: Command) -> Result<Side> {
        let folder = Folder::make(!matches!(self, Kind::Test))?;
        command.env(VARIABLE, folder.path()).env("CARGO_TERM_COLOR", "never").stdin(Stdio::null());
        let (mut outcomes, mut latencies) = (Outcomes::default(), None);
        match self {
            Kind::Run => drop(command.status().context("can't start cargo")?),
            Kind::Test => outcomes = watch(command)?,
            Kind::Load(load) => latencies = Some(load.put_on(command, &folder)?),
        }
        let figures = folder.figures()?.context("cargo ended before any program started")?;
        Ok(Side { figures, outcomes, output: folder.output(), latencies })
    }
}

/// Passes all output on, and reads the tests' outcomes from it.
fn watch(mut command: Command) -> Result<Outcomes> {
    // One pipe for both streams, because cargo names a binary on one stream and the binary's tests
    // report on the other. The order has to be kept.
    let (reader, writer) = std::io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn().context("can't start cargo")?;
    // The command holds copies of the pipe's writing end. The reader sees the end only when all
    // copies are closed.
    drop(command);
    let mut outcomes = Outcomes::default();
    let mut lines = BufReader::new(reader);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let text = String::from_utf8_lossy(&line);
        eprint!("{text}");
        outcomes.read(text.trim_end());
        line.clear();
    }
    child.wait()?;
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<(Kind, Line)> {
        parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn what_is_cargos_stays_as_it_is() {
        let (kind, line) = parsed("--release -- --load x").unwrap();
        assert!(matches!(kind, Kind::Run));
        assert_eq!(
            (line.subcommand, line.rest),
            ("run".into(), ["--release", "--", "--load", "x"].map(Into::into).into())
        );
        let (kind, line) = parsed("test -p a").unwrap();
        assert!(matches!(kind, Kind::Test));
        assert_eq!(line.rest, ["--no-fail-fast", "-p", "a"]);
        let (kind, line) = parsed("run --load http://localhost:80/ --bin a --rate=5 --secs 1").unwrap();
        assert!(matches!(kind, Kind::Load(_)));
        assert_eq!(line.rest, ["--bin", "a"]);
    }

    #[test]
    fn what_makes_no_sense_is_said() {
        let error = |line| parsed(line).err().unwrap().to_string();
        assert_eq!(error("--rate 5"), "`--rate` and `--secs` belong to `--load`");
        assert_eq!(error("--load"), "`--load` needs a value");
        assert_eq!(error("test --load http://a/"), "`--load` is for programs, not for tests");
        assert_eq!(error("--load http://a/ --rate 0"), "`--rate` has to be more than nothing");
        assert_eq!(error("--load https://a/"), "`https://a/` is not the address of a page (http://...)");
    }
}
