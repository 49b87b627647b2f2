//! The command `cargo gmp`. All of its code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    cargo_gmp::cli::main(std::env::args_os().skip(1).collect())
}
