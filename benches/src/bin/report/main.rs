//! The whole comparison as a page with plots.
//!
//! Measuring and drawing are apart: the programs that measure leave JSON lines, and the report is made of those alone. So a
//! report can be made again, of results of another day or another machine, without measuring anything, and what is measured
//! can be read by other programs too.

mod about;
mod args;
mod page;
mod part;
mod rows;
mod run;
mod saved;

use std::{fs, io, path::Path, process::ExitCode};

use gmp_benches::cli;

use crate::{args::Options, saved::Saved};

fn main() -> ExitCode {
    let options = cli::parse_or_exit(args::USAGE, Options::parse);
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("report: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let measured = run::measure(&options.measure, options.quick, &options.dir);
    // What was measured before something failed is worth looking at.
    let saved = saved::read(&options.dir)?;
    write(&options.dir.join("report.html"), &page::html(&saved))?;
    write_svg(options, &saved)?;
    measured
}

fn write_svg(options: &Options, saved: &Saved) -> io::Result<()> {
    let svg = page::svg(saved);
    write(&options.dir.join("side-by-side.svg"), &svg)?;
    options.svg.as_ref().map_or(Ok(()), |path| write(path, &svg))
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let explained =
        |error: io::Error| io::Error::new(error.kind(), format!("cannot write {}: {error}", path.display()));
    fs::write(path, text).map_err(explained)?;
    println!("written: {}", path.display());
    Ok(())
}
