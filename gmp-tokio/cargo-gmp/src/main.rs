//! The command `cargo gmp`; everything is in the library.

use cargo_gmp::cargo::Cargo;
use cargo_gmp::tokio_real;
use std::path::Path;

fn main() -> anyhow::Result<()> {
    let cargo = Cargo::from_env(false);
    let outcome = tokio_real::generate(Path::new("gmp-tokio"), &cargo)?;
    println!("{outcome:?}");
    Ok(())
}
