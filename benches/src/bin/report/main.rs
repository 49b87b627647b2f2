//! The whole comparison as a page with plots, made from the JSON lines that the programs leave.

mod about;
mod page;
mod part;
mod plots;
mod run;
mod saved;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::{Parser, ValueEnum};

use crate::part::Part;

/// Measures everything, gmp beside tokio, and writes an HTML report with plots, or makes the report
/// from earlier results.
///
/// The results of a part are JSON lines and what its programs print (table.jsonl, table.txt and so
/// on). The report says of a missing part how to measure it.
#[derive(Debug, Parser)]
struct Options {
    /// Fewer and shorter repetitions: two to three minutes instead of about eighteen
    #[arg(long)]
    quick: bool,
    /// Measure this part only and take the saved results of the others; may be given several times
    #[arg(long, value_name = "PART", value_enum)]
    only: Vec<Part>,
    /// Measure nothing: make the report from the saved results
    #[arg(long, conflicts_with = "only")]
    saved: bool,
    /// Where results are saved and report.html and side-by-side.svg are written
    #[arg(long, default_value = "target/report")]
    dir: PathBuf,
    /// Also write the SVG of all ratios to this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Options {
    fn parts(&self) -> &[Part] {
        match &self.only[..] {
            [] if self.saved => &[],
            [] => Part::value_variants(),
            only => only,
        }
    }
}

fn main() -> Result<()> {
    run(&Options::parse())
}

fn run(options: &Options) -> Result<()> {
    let measured = run::measure(options.parts(), options.quick, &options.dir);
    // If a part failed, the results of the others are still useful. The failure may be the reason
    // for another one in the report: both are printed.
    measured.as_ref().inspect_err(|error| eprintln!("report: {error:#}")).ok();
    write_report(options).and(measured)
}

fn write_report(options: &Options) -> Result<()> {
    let saved = saved::read(&options.dir)?;
    for doubt in about::doubts(&saved.about) {
        eprintln!("report: {doubt}");
    }
    write(&options.dir.join("report.html"), &page::html(&saved)?)?;
    // A drawing without bars must not replace the last one with bars.
    if saved.table.is_empty() {
        let dir = options.dir.display();
        ensure!(options.svg.is_none(), "no drawing: there is no table.jsonl in {dir}, --only table makes it");
        return Ok(());
    }
    let svg = page::svg(&saved);
    write(&options.dir.join("side-by-side.svg"), &svg)?;
    options.svg.as_ref().map_or(Ok(()), |path| write(path, &svg))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    println!("written: {}", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_is_drawn_without_measuring_and_a_drawing_of_nothing_does_not_replace_the_last_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name| dir.path().join(name);
        let (path, svg) = (dir.path().to_str().unwrap(), file("last.svg"));
        let options = Options::parse_from(["report", "--saved", "--dir", path, "--svg", svg.to_str().unwrap()]);
        fs::write(&svg, "bars").unwrap();
        let error = run(&options).unwrap_err().to_string();
        assert!(error.contains("--only table makes it"), "{error}");
        assert_eq!(fs::read_to_string(&svg).unwrap(), "bars");

        let row = r#"{"workload":"ring_500","unit":"ns/op","gmp":75.0,"tokio":100.0,"ratio":0.75,"reps":1,"procs":2,"samples":{"gmp":[75.0],"tokio":[100.0]}}"#;
        fs::write(file("table.jsonl"), row).unwrap();
        run(&options).unwrap();
        for name in ["report.html", "side-by-side.svg", "last.svg"] {
            assert!(fs::read_to_string(file(name)).unwrap().contains(">0.75</text>"), "{name}");
        }
    }
}
