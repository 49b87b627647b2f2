//! The whole comparison as a page with plots.
//!
//! Measuring and drawing are apart: the programs that measure leave JSON lines, and the report is made of those alone. So a
//! report can be made again, of results of another day or another machine, without measuring anything, and what is measured
//! can be read by other programs too.

mod about;
mod args;
mod doubts;
mod load;
mod page;
mod part;
mod rows;
mod run;
mod saved;

use std::path::Path;
use std::process::ExitCode;
use std::{fs, io};

use gmp_benches::cli;

use crate::args::Options;
use crate::saved::Saved;

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
    both(measured, write_report(options))
}

fn write_report(options: &Options) -> io::Result<()> {
    let saved = saved::read(&options.dir)?;
    for doubt in doubts::all(&saved.about) {
        eprintln!("report: {doubt}");
    }
    write(&options.dir.join("report.html"), &page::html(&saved))?;
    write_svg(options, &saved)
}

/// What failed first may be why the second failed: neither is left out.
fn both(measured: io::Result<()>, written: io::Result<()>) -> io::Result<()> {
    match (measured, written) {
        (Err(measured), Err(written)) => Err(io::Error::other(format!("{measured}\nand then: {written}"))),
        (measured, written) => measured.and(written),
    }
}

/// Only what was measured: a drawing without bars must not replace the last one with bars.
fn write_svg(options: &Options, saved: &Saved) -> io::Result<()> {
    if saved.table.is_empty() {
        let missing =
            format!("no drawing: there is no table.jsonl in {}, --only table makes it", options.dir.display());
        return options.svg.as_ref().map_or(Ok(()), |_| Err(io::Error::other(missing)));
    }
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

#[cfg(test)]
mod tests {
    use gmp_benches::cli::Arguments;

    use super::*;

    #[test]
    fn an_error_of_measuring_is_not_lost_behind_one_of_drawing() {
        let failed = |what: &str| Err(io::Error::other(what));
        assert_eq!(both(failed("no port"), failed("no disk")).unwrap_err().to_string(), "no port\nand then: no disk");
        assert_eq!(both(failed("no port"), Ok(())).unwrap_err().to_string(), "no port");
        assert_eq!(both(Ok(()), failed("no disk")).unwrap_err().to_string(), "no disk");
    }

    #[test]
    fn a_drawing_of_nothing_does_not_replace_the_last_one() {
        let dir = tempfile::tempdir().unwrap();
        let svg = dir.path().join("last.svg");
        fs::write(&svg, "bars").unwrap();
        let arguments = ["--saved", "--dir", dir.path().to_str().unwrap(), "--svg", svg.to_str().unwrap()];
        let error = run(&Options::parse(Arguments::new(arguments)).unwrap()).unwrap_err().to_string();
        assert!(error.contains("--only table makes it"), "{error}");
        assert_eq!(fs::read_to_string(&svg).unwrap(), "bars");
        assert!(dir.path().join("report.html").exists());
    }

    #[test]
    fn what_was_saved_is_drawn_without_measuring() {
        let dir = tempfile::tempdir().unwrap();
        let row = r#"{"workload":"ring_500","unit":"ns/op","gmp":150.0,"tokio":200.0,"procs":2}"#;
        fs::write(dir.path().join("table.jsonl"), row).unwrap();
        run(&Options::parse(Arguments::new(["--saved", "--dir", dir.path().to_str().unwrap()])).unwrap()).unwrap();
        for file in ["report.html", "side-by-side.svg"] {
            assert!(fs::read_to_string(dir.path().join(file)).unwrap().contains(">0.75</text>"), "{file}");
        }
    }
}
