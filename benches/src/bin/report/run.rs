//! Measuring: each part with the program that can also be run for it alone.
//!
//! The programs are processes of their own: a measured runtime leaves threads' stacks and a grown
//! heap behind. Cargo builds only the program that it runs, so the others are built first.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

use anyhow::{Context, Result, ensure};

use crate::about::About;
use crate::part::Part;

/// Measures `parts` and leaves their results in `dir`, each as soon as it is complete. A part that
/// fails doesn't keep the others from being measured, and its earlier results stay.
pub(crate) fn measure(parts: &[Part], quick: bool, dir: &Path) -> Result<()> {
    if parts.is_empty() {
        return Ok(());
    }
    build()?;
    fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
    let mut failures = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        println!("\n=== {} ({} of {})", part.name(), index + 1, parts.len());
        if let Err(error) = measure_one(*part, quick, dir) {
            failures.push(format!("{} was not measured: {error:#}", part.name()));
        }
    }
    ensure!(failures.is_empty(), "{}", failures.join("; "));
    Ok(())
}

fn measure_one(part: Part, quick: bool, dir: &Path) -> Result<()> {
    let mut about = About::now();
    if let Some(noise) = about.noise(part) {
        eprintln!("report: {noise}");
    }
    let (start, mut lines, mut text) = (Instant::now(), String::new(), String::new());
    for (program, arguments) in part.commands(quick) {
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        let words = [&[program], &arguments[..]].concat().join(" ");
        println!("\n$ {words}\n");
        let json = tempfile::NamedTempFile::new()?;
        let mut command = Command::new(env::current_exe()?.with_file_name(program));
        text += &printed(command.args(&arguments).arg("--json").arg(json.path()), program)?;
        lines += &fs::read_to_string(json.path())?;
        about.commands.push(words);
    }
    about.seconds = start.elapsed().as_secs();
    // Only now, when all is complete: a program that fails must not destroy the last results.
    for (kind, text) in [("jsonl", lines), ("txt", text), ("about.json", serde_json::to_string_pretty(&about)?)] {
        let path = dir.join(part.file(kind));
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

fn build() -> Result<()> {
    ensure!(!cfg!(debug_assertions), "this is a debug build, whose times say nothing: use `cargo run --release`");
    // Without cargo the programs must exist already; an error names one that is missing.
    let Some(cargo) = env::var_os("CARGO") else {
        return Ok(());
    };
    println!("building the programs that measure");
    let arguments = ["build", "--release", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bins"];
    // As this program was built.
    let features = if cfg!(feature = "smol") { &[][..] } else { &["--no-default-features"] };
    printed(Command::new(cargo).args(arguments).args(features), "cargo build").map(drop)
}

fn printed(command: &mut Command, name: &str) -> Result<String> {
    let not_there = || format!("cannot run {name} (`cargo build --release -p {}` builds it)", env!("CARGO_PKG_NAME"));
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(not_there)?;
    let mut printed = String::new();
    for line in BufReader::new(child.stdout.take().expect("a pipe was asked for")).lines() {
        let line = line? + "\n";
        print!("{line}");
        printed += &line;
    }
    let status = child.wait()?;
    ensure!(status.success(), "{name} failed: {status}");
    Ok(printed)
}
