//! Runs the tests of published packages on tokio and on the drop-in, and writes `docs/crates.md`.
//!
//! ```text
//! gmp-crates              # all packages of crates.toml that were not run yet
//! gmp-crates NAME...      # these, again
//! gmp-crates table        # only writes the table
//! gmp-crates programs     # published programs instead: see `programs`
//! ```
//!
//! A package is unpacked as it was published and compiled twice, by `cargo build --tests` and by
//! `cargo gmp build --tests`, with the same lock file. Every test runs in its own process, on both.
//! A test with different outcomes is repeated alone, three times on both; only if the outcomes
//! still differ is it counted as a difference. `crates.toml` lists the packages and the reasons for
//! known differences. The results are kept in `crates.json`, so that one package can be run by
//! itself.
//!
//! Documentation tests are not run: each is a separate program to compile, and few of them run
//! anything.

use std::process::ExitCode;

mod build;
mod compare;
mod list;
mod programs;
mod results;
mod rows;
mod run;
mod table;
mod unpack;

use std::path::{Path, PathBuf};

use list::{List, Package};
use results::{Results, Row};

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let done = match names.split_first() {
        Some((first, names)) if first == "programs" => programs::run_all(names),
        _ => run_all(&names),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("gmp-crates: {message}");
            ExitCode::from(2)
        }
    }
}

fn run_all(names: &[String]) -> Result<(), String> {
    let list = List::load()?;
    let mut results = Results::load()?;
    let wanted = if names == ["table"] { Vec::new() } else { choose(&list, names, &results)? };
    let mut failed = Vec::new();
    for package in wanted {
        println!("{}", package.name);
        let row = match run_package(package) {
            Ok(row) => row,
            Err(message) => {
                eprintln!("gmp-crates: {message}");
                failed.push(package.name.as_str());
                continue;
            }
        };
        results.rows.insert(package.name.clone(), row);
        results.save()?;
        table::write(&list, &results)?;
    }
    table::write(&list, &results)?;
    all_were_run(&failed)
}

fn all_were_run(failed: &[&str]) -> Result<(), String> {
    if failed.is_empty() { Ok(()) } else { Err(format!("not run: {}", failed.join(", "))) }
}

/// The packages of these names. Without names, those that were not run yet.
fn choose<'a>(list: &'a List, names: &[String], results: &Results) -> Result<Vec<&'a Package>, String> {
    if names.is_empty() {
        return Ok(list.package.iter().filter(|package| !results.rows.contains_key(&package.name)).collect());
    }
    let find = |name: &String| {
        let package = list.package.iter().find(|package| package.name == *name);
        package.ok_or(format!("crates.toml has no package {name}"))
    };
    names.iter().map(find).collect()
}

fn run_package(package: &Package) -> Result<Row, String> {
    let unpacked = match unpack::unpack(package) {
        Ok(unpacked) => unpacked,
        Err(message) => {
            eprintln!("gmp-crates: {message}");
            return Row::without_tests("", "what its tests depend on is no longer available");
        }
    };
    let row = compare::compare(package, &unpacked);
    std::fs::remove_dir_all(&unpacked.folder).map_err(|error| error.to_string())?;
    row
}

/// The folder of the drop-in.
fn drop_in() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder in which packages are unpacked and built.
fn work() -> PathBuf {
    match std::env::var_os("GMP_CRATES_WORK") {
        Some(folder) => PathBuf::from(folder),
        None => drop_in().join("crates/work"),
    }
}
