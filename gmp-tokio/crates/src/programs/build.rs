//! Builds a program with its own lock file, on tokio or on gmp.

use super::list::Program;
use super::unpack::Unpacked;
use crate::build::{Built, Executor, command, run};
use std::fs;

pub(crate) fn build(program: &Program, unpacked: &Unpacked, executor: Executor) -> Result<Built, String> {
    let mut cargo = command(executor)?;
    cargo.current_dir(&unpacked.folder);
    cargo.args(["build", "--locked", "--message-format", "json"]).args(&program.arguments);
    let built = run(&mut cargo, false)?;
    // `cargo gmp` writes nothing of the user's.
    let lock =
        fs::read_to_string(unpacked.folder.join("Cargo.lock")).map_err(|error| format!("Cargo.lock: {error}"))?;
    if lock == unpacked.lock { Ok(built) } else { Err("the build has changed Cargo.lock".to_owned()) }
}
