//! `cargo gmp run`: builds and runs a program written against tokio on gmp, without a change to it.
//!
//! tokio is replaced for the whole dependency graph by the package in `gmp-tokio`, through
//! `[patch.crates-io]`. What depends on no executor (`sync`, the traits and helpers of `io`, the
//! macros) is tokio's own code, which is not in this repository: [`tokio_real`] makes a package of
//! it from the one that cargo downloads.
//!
//! The rule: nothing of the user's is written. The patch and the lock file that goes with it are
//! given to cargo on its command line, and then this process *becomes* cargo, so exit codes,
//! signals and Ctrl-C are cargo's own. (`install` has something to clean up, `compare` to look at,
//! and tools are checked afterwards: these wait.)

#![forbid(unsafe_code)]

#[cfg(not(unix))]
compile_error!("gmp runs on Linux and other Unix, and so does `cargo gmp`");

pub mod cli;

mod alias;
mod arguments;
mod compare;
mod configuration;
mod digest;
mod doctor;
mod draft;
mod hindrances;
mod install;
mod lockfile;
mod metadata;
mod moves;
mod needs;
mod nested;
mod patch;
mod program;
mod project;
mod raised;
mod run;
mod tokios;
mod tool;

pub mod cargo;
pub mod package;
pub mod sources;
pub mod tokio_real;
