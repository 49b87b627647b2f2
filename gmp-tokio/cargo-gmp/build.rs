//! Puts the sources of the drop-in into the binary, so that an installed `cargo gmp` needs no checkout.
//!
//! Plain `include_bytes!` of each file rather than an archive: nothing has to be unpacked by hand, and cargo's own
//! dependency tracking sees each file.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What the drop-in is built from, from the repository's top.
const EMBEDDED: [&str; 11] = [
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "gmp-exec/Cargo.toml",
    "gmp-exec/src",
    "gmp-exec/macros/Cargo.toml",
    "gmp-exec/macros/src",
    "gmp-io/src",
    "gmp-tokio/Cargo.toml",
    "gmp-tokio/src",
    "gmp-tokio/io/Cargo.toml",
];

fn main() -> io::Result<()> {
    let top = fs::canonicalize("../..")?;
    let mut files = Vec::new();
    for entry in EMBEDDED {
        let path = top.join(entry);
        println!("cargo::rerun-if-changed={}", path.display());
        collect(&path, &mut files)?;
    }
    files.sort();
    let table = table(&top, &files)?;
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("set by cargo"));
    fs::write(out.join("embedded.rs"), table)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}

fn table(top: &Path, files: &[PathBuf]) -> io::Result<String> {
    let mut hash = DefaultHasher::new();
    let mut table = String::from("static FILES: &[(&str, &[u8])] = &[\n");
    for file in files {
        let name = file.strip_prefix(top).expect("collected below the top").to_str().expect("named in ASCII");
        let contents = fs::read(file)?;
        (name, &contents).hash(&mut hash);
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", file.display().to_string()).expect("a string grows");
    }
    let host = env::var("TARGET").expect("set by cargo");
    // Only to tell one version's sources from another's, so nothing stronger is compiled for it.
    let digest = format!("{:016x}", hash.finish());
    writeln!(table, "];\nconst DIGEST: &str = {digest:?};\npub(crate) const HOST: &str = {host:?};")
        .expect("a string grows");
    Ok(table)
}
