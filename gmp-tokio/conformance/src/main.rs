//! Runs tokio's own tests against the drop-in.
//!
//! The tests come with tokio's package, so they are on every machine that has built this
//! repository, and none of them is in the repository. They have to be tests of a package named
//! `tokio`, because they read its features. So this program makes a package of that name in a
//! git-ignored folder, with the drop-in's source as its library and tokio's files as its tests.
//!
//! Each test runs in its own process: a test that hangs is ended, and nothing that it leaves behind
//! (a signal handler, a thread, a panic hook) can affect the next test.
//!
//! `conformance.toml` names the tests that are not compiled, are not run, or may fail, each with
//! the reason. A failure that is not listed is an error, and so is a listed failure that passes. A
//! few of tokio's tests allow so little real time that a busy machine may need more. They are
//! listed too, and run up to three times.
//!
//! ```text
//! gmp-conformance [unstable] [--group NAME]... [--filter TEXT] [--jobs N] [--timeout SECONDS] [--repeat N]
//! gmp-conformance [unstable] --target PLATFORM [--group NAME]...
//! gmp-conformance [unstable] --binary PATH... [--slow] [--filter TEXT] [--jobs N] [--timeout SECONDS]
//!                 [--repeat N]
//! gmp-conformance [unstable] api
//! gmp-conformance listing [--update]
//! ```
//!
//! The second form compiles the tests for another platform and prints the paths of the binaries, and the
//! third form, there, runs them. With `--slow`, a test that is listed with a time limit may fail.
//!
//! The fourth form compares the public items. With `unstable`, all do the same with `--cfg
//! tokio_unstable` ([`round`]), and leave out tests that a run without the cfg has run
//! ([`without_cfg`]). The last form compares the public items of gmp-exec and gmp-io with
//! the committed listings, or writes the listings.

use std::process::ExitCode;

mod api;
mod compile;
mod exceptions;
mod options;
mod package;
mod report;
mod round;
mod run;
mod source;
mod units;
mod without_cfg;

use cargo_gmp::cargo::Cargo;
use compile::Binary;
use exceptions::Exceptions;
use options::Options;

fn main() -> ExitCode {
    match Options::parse(std::env::args().skip(1)).and_then(|options| conform(&options)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("gmp-conformance: {message}");
            ExitCode::from(2)
        }
    }
}

/// Whether every check passed.
fn conform(options: &Options) -> Result<bool, String> {
    if options.listing {
        return api::listing::check(options.update);
    }
    let exceptions = exceptions::load(options.round)?;
    if !options.binaries.is_empty() {
        return run_all(&compile::named(options), &exceptions, options);
    }
    cargo_gmp::tokio_real::generate(&source::drop_in(), &Cargo::from_env(false))
        .map_err(|error| format!("{error:#}"))?;
    let tests = source::find()?;
    let groups = package::make(&tests, &exceptions, options)?;
    if options.api {
        return api::compare(options.round, &exceptions);
    }
    let binaries = compile::compile(&groups, options)?;
    if options.target.is_some() {
        binaries.iter().for_each(|binary| println!("{}", binary.path.display()));
        return Ok(true);
    }
    run_all(&binaries, &exceptions, options)
}

/// Whether every test behaved as expected.
fn run_all(binaries: &[Binary], exceptions: &Exceptions, options: &Options) -> Result<bool, String> {
    let mut results = run::Results::default();
    for round in 1..=options.repeat {
        if options.repeat > 1 {
            println!("round {round} of {}", options.repeat);
        }
        results.extend(run::run(binaries, exceptions, options)?);
    }
    Ok(report::print(&results, exceptions, options))
}
