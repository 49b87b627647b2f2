//! Measuring: each part with the program that can also be run for it alone.
//!
//! The programs are processes of their own, not functions that are called here: a measured runtime
//! leaves threads' stacks and a grown heap behind, and the report must show the figures that its
//! commands print. Cargo builds only the program that it runs, so the others are built first.

use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{env, fs, process};

use anyhow::{Context, Result, ensure};

use crate::about::About;
use crate::doubts;
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
        let about = About::now(index == 0);
        if let Some(noise) = doubts::noise(*part, &about) {
            eprintln!("report: {noise}");
        }
        if let Err(error) = measure_one(*part, about, quick, dir) {
            failures.push(format!("{} was not measured: {error:#}", part.name()));
        }
    }
    ensure!(failures.is_empty(), "{}", failures.join("; "));
    Ok(())
}

fn measure_one(part: Part, about: About, quick: bool, dir: &Path) -> Result<()> {
    let about = run_all(part, about, quick, dir)?;
    let path = about_path(dir, part);
    let text = serde_json::to_string_pretty(&about)?;
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The file that records how `part` was measured.
pub(crate) fn about_path(dir: &Path, part: Part) -> PathBuf {
    dir.join(format!("{}.about.json", part.name()))
}

fn build() -> Result<()> {
    ensure!(!cfg!(debug_assertions), "this is a debug build, whose times say nothing: use `cargo run --release`");
    // Without cargo the programs must exist already; an error names a missing program when it
    // should run.
    let Some(cargo) = env::var_os("CARGO") else {
        return Ok(());
    };
    println!("building the programs that measure");
    let arguments = ["build", "--release", "--quiet", "--package", env!("CARGO_PKG_NAME"), "--bins"];
    succeed(process::Command::new(cargo).args(arguments), "cargo build")
}

fn run_all(part: Part, mut about: About, quick: bool, dir: &Path) -> Result<About> {
    let start = Instant::now();
    for (program, arguments, file) in part.commands(quick) {
        let arguments: Vec<_> = arguments.split_whitespace().collect();
        let words = [&[program], &arguments[..]].concat().join(" ");
        println!("\n$ {words}\n");
        // Under another name until it is complete: a program that fails must not destroy the last
        // results.
        let (partial, complete) = (dir.join(format!("{file}.partial")), dir.join(&file));
        let path = env::current_exe()?.with_file_name(program);
        succeed(process::Command::new(path).args(&arguments).arg("--json").arg(&partial), program)?;
        fs::rename(&partial, &complete).with_context(|| format!("cannot keep {}", complete.display()))?;
        about.commands.push(words);
    }
    about.seconds = start.elapsed().as_secs();
    Ok(about)
}

fn succeed(command: &mut process::Command, name: &str) -> Result<()> {
    let not_there = || format!("cannot run {name} (`cargo build --release -p {}` builds it)", env!("CARGO_PKG_NAME"));
    let status = command.status().with_context(not_there)?;
    ensure!(status.success(), "{name} failed: {status}");
    Ok(())
}
