//! Builds a program with its own lock file, on tokio or on gmp.

use std::fs;

use super::list::Program;
use super::unpack::Unpacked;
use crate::build::{Built, Executor, command, run};
use crate::unpack::remove_if_there;
use crate::work;

pub(crate) fn build(program: &Program, unpacked: &Unpacked, executor: Executor) -> Result<Built, String> {
    // `cargo gmp` keeps the lock files that it makes, and prints the moved packages only when it
    // makes one. So the kept lock files are removed first.
    let kept = work().join("target/gmp/lock");
    remove_if_there(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    let mut cargo = command(executor)?;
    cargo.current_dir(&unpacked.folder);
    cargo.args(["build", "--locked", "--message-format", "json"]).args(&program.arguments);
    let built = run(&mut cargo, false)?;
    // `cargo gmp` must not change the program's own lock file.
    let lock =
        fs::read_to_string(unpacked.folder.join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    if lock == unpacked.lock { Ok(built) } else { Err("the build has changed Cargo.lock".to_owned()) }
}
