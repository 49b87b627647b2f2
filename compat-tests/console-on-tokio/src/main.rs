//! Writes the tables of the ten programs on tokio, with which the tests of `../console` compare
//! those on gmp: `cargo run` in this folder.

use std::path::Path;
use std::{fs, io};

use console_tests::programs;

fn main() -> io::Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../console/tables");
    for program in programs::ALL {
        fs::write(folder.join(program.name).with_extension("txt"), program.tables())?;
    }
    Ok(())
}
