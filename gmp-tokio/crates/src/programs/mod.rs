//! Builds published programs with `cargo gmp build --locked`, runs each of them, and writes
//! `docs/programs.md`.
//!
//! ```text
//! gmp-crates programs            # all of programs.toml that were not run yet
//! gmp-crates programs NAME...    # these, again
//! gmp-crates programs table      # only writes the table
//! ```
//!
//! A program is unpacked as it was published and built on gmp with its own lock file. Then each of
//! its binaries is run with `--help`, and the program's script in `programs.toml` uses the program
//! for a real task. The script has to make the program write gmp's trace of the scheduler
//! (`prelude.sh`); otherwise the program counts as failed. If a program can't be built or used, the
//! same is tried on tokio, so that the table can say whether gmp is the cause. The results are kept
//! in `programs.json`, so that one program can be run by itself.

mod build;
mod list;
mod lock;
mod results;
mod table;
mod trial;
mod unpack;

use list::{List, Program};
use results::{Results, Row};

use crate::build::Executor;

pub(crate) fn run_all(names: &[String]) -> Result<(), String> {
    let list = List::load()?;
    let mut results = Results::load()?;
    let wanted = if names == ["table"] { Vec::new() } else { choose(&list, names, &results)? };
    let mut failed = Vec::new();
    for program in wanted {
        println!("{}", program.name);
        match run_program(program) {
            Ok(row) => results.rows.insert(program.name.clone(), row),
            Err(message) => {
                eprintln!("gmp-crates: {}: {message}", program.name);
                failed.push(program.name.as_str());
                continue;
            }
        };
        results.save()?;
        table::write(&list, &results)?;
    }
    table::write(&list, &results)?;
    crate::all_were_run(&failed)
}

/// The programs of these names. Without names, those that were not run yet.
fn choose<'a>(list: &'a List, names: &[String], results: &Results) -> Result<Vec<&'a Program>, String> {
    if names.is_empty() {
        return Ok(list.program.iter().filter(|program| !results.rows.contains_key(&program.name)).collect());
    }
    let find = |name: &String| {
        let program = list.program.iter().find(|program| program.name == *name);
        program.ok_or(format!("programs.toml has no program {name}"))
    };
    names.iter().map(find).collect()
}

fn run_program(program: &Program) -> Result<Row, String> {
    let unpacked = unpack::unpack(program)?;
    let mut row = Row::new(&unpacked)?;
    let built = build::build(program, &unpacked, Executor::Gmp)?;
    row.moved = lock::moved(&built.notes);
    row.built = built.is_on(Executor::Gmp) && !built.binaries.is_empty() && built.failed.is_empty();
    if row.built {
        row.help = trial::help(&built);
        row.used = trial::used(program, &built, Executor::Gmp);
    } else {
        eprintln!("{}", built.messages);
    }
    if !row.is_right() {
        row.on_tokio = Some(on_tokio(program, &unpacked)?);
    }
    println!("  {} {}: {}", program.name, row.version, row.summary());
    std::fs::remove_dir_all(&unpacked.folder).map_err(|error| error.to_string())?;
    Ok(row)
}

/// Whether the program can be built and used on tokio.
fn on_tokio(program: &Program, unpacked: &unpack::Unpacked) -> Result<bool, String> {
    let built = build::build(program, unpacked, Executor::Tokio)?;
    let is_built = built.is_on(Executor::Tokio) && !built.binaries.is_empty() && built.failed.is_empty();
    Ok(is_built && trial::help(&built) && trial::used(program, &built, Executor::Tokio))
}
