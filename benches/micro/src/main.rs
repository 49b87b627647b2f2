//! Counts the instructions of gmp's hot paths, and fails when there are more than the committed
//! figures allow.
//!
//! Time on a shared machine varies by more than the cost of a careless change. The number of
//! instructions does not. Each path runs under valgrind's callgrind with N operations and with 2 N;
//! the difference is the cost of N, without the start and the end of process and runtime.
//!
//! Rejected: gungraun (once iai-callgrind), which does the same and more, but needs a second
//! program in exactly the version of the library, installed in each CI run, and has no committed
//! figures that name their machine; hardware counters, which virtual machines don't have.

mod callgrind;
mod figures;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use clap::builder::PossibleValuesParser;
use gmp_micro::paths::{self, BATCH};
use gmp_micro::rt::{Gmp, Rt, Tokio};

use crate::callgrind::Subject;
use crate::figures::Figures;

/// Counts the instructions that gmp's hot paths take per operation, under valgrind, and compares
/// them with instructions.toml.
///
/// Exit code 1: a path takes more than its figure and the margin. On another architecture or libc
/// than that of the figures, which instructions.toml names, the table is printed without a check.
#[derive(Debug, Parser)]
struct Options {
    /// Replace the figures by the new counts
    #[arg(long, conflicts_with = "only")]
    update: bool,
    /// Also count tokio's instructions, in a column beside gmp's
    #[arg(long)]
    tokio: bool,
    /// Count with console-subscriber's layer; needs a build with `--cfg tokio_unstable`, in which
    /// both libraries have their feature `tracing`
    #[arg(long)]
    console: bool,
    /// Count this path only; may be given several times
    #[arg(long, value_name = "PATH", value_parser = PossibleValuesParser::new(paths::all::<Gmp>().iter().map(|path| path.name)))]
    only: Vec<String>,
    /// Leave callgrind's output in this directory, for callgrind_annotate
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Run one path in this process and count nothing: the command that runs under valgrind
    #[arg(long, num_args = 4, value_names = ["LIBRARY", "FLAVOUR", "PATH", "OPERATIONS"])]
    run: Option<Vec<String>>,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    if let Some(words) = options.run.as_deref() {
        return run(words, options.console).map(|()| ExitCode::SUCCESS);
    }
    let hold = check(&options)?;
    Ok(if hold { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn run(words: &[String], console: bool) -> Result<()> {
    let [library, flavor, path, operations] = words else { bail!("{words:?} are not four words") };
    let subject = Subject::all().into_iter().find(|it| it.flavor.name() == flavor && it.path == path);
    let subject = subject.with_context(|| format!("there is no path {path} on {flavor}"))?;
    let count = operations.parse().ok().filter(|count| count % BATCH == 0);
    let count = count.with_context(|| format!("`{operations}` must be a multiple of {BATCH}"))?;
    if console {
        start_console()?;
    }
    match &library[..] {
        Gmp::NAME => subject.run_on::<Gmp>(count),
        Tokio::NAME => subject.run_on::<Tokio>(count),
        _ => bail!("there is no library {library}"),
    }
    Ok(())
}

/// Whether the figures hold, if they belong to this machine.
fn check(options: &Options) -> Result<bool> {
    ensure!(!(options.update && IS_TRACED), "--update replaces the figures of a build without `--cfg tokio_unstable`");
    let is_everything = options.only.is_empty();
    let is_asked_for = |it: &Subject| is_everything || options.only.iter().any(|path| path == it.path);
    let subjects: Vec<_> = Subject::all().into_iter().filter(is_asked_for).collect();
    let (counts, mut figures) = (callgrind::count_all(&subjects, options)?, Figures::read()?);
    if options.update {
        figures.replace(&counts)?;
    }
    figures.print(&counts);
    let why = figures.why_unchecked().inspect(|why| println!("{why}"));
    Ok(why.is_some() || figures.judge(&counts, is_everything))
}

/// Whether both libraries make spans and events: tokio's do nothing without the cfg.
const IS_TRACED: bool = cfg!(tokio_unstable);

/// Makes console-subscriber's layer the subscriber of all threads. No server runs, so only the cost
/// for the threads of the program is counted: the layer has room for the events of the few tasks.
#[cfg(tokio_unstable)]
fn start_console() -> Result<()> {
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    let (layer, server) = console_subscriber::ConsoleLayer::new();
    // Without a receiver the layer would drop each event at once.
    std::mem::forget(server);
    tracing_subscriber::registry().with(layer).try_init()?;
    Ok(())
}

#[cfg(not(tokio_unstable))]
fn start_console() -> Result<()> {
    bail!("--console needs a build with `--cfg tokio_unstable`")
}
