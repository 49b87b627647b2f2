//! `cargo gmp run`: builds and runs a program written against tokio on gmp, without a change to the
//! program.
//!
//! tokio is replaced for the whole dependency graph by the package in `gmp-tokio`, through
//! `[patch.crates-io]`. The parts that depend on no executor (`sync`, the traits and helpers of
//! `io`, the macros) are tokio's own code, which is not in this repository: [`tokio_real`] makes a
//! package of that code from the package that cargo downloads.
//!
//! The rule: this command writes none of the user's files. It gives cargo the patch, and the lock
//! file for the patch, on cargo's command line. Then this process *becomes* cargo, so exit codes,
//! signals and Ctrl-C are cargo's own. Four commands wait for cargo or a tool instead: `install`
//! cleans up afterwards, `compare` measures, `test --seeds` runs the tests itself, and a tool's builds
//! are checked when the tool has ended. `test --seeds` also writes `gmp-seeds.txt` beside `Cargo.toml`,
//! when a test fails.

#![forbid(unsafe_code)]

#[cfg(not(unix))]
compile_error!("gmp runs on Linux and other Unix, and so does `cargo gmp`");

pub mod cli;

mod alias;
mod arguments;
mod asked;
mod compare;
mod configuration;
mod console;
mod counted;
mod digest;
mod doctor;
mod draft;
mod duration;
mod escaped;
mod growth;
mod handed_over;
mod help;
mod hindrances;
mod install;
mod lines;
mod lockfile;
mod metadata;
mod moves;
mod needs;
mod nested;
mod patch;
mod printed;
mod program;
mod project;
mod question;
mod raised;
mod run;
mod seeds;
mod settings;
mod tokios;
mod tool;
mod usage;

pub mod cargo;
pub mod package;
pub mod sources;
mod tasks;
pub mod tokio_real;
pub mod trace;
