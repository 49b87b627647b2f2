//! Embeds the drop-in's sources in the binary, so that an installed `cargo gmp` needs no checkout.
//!
//! Every file in `sources/` is embedded. In a checkout these files are links to the code in its own
//! folders; `cargo package` puts the files themselves into the package. Cargo would leave a folder
//! with a `Cargo.toml` out of the package, because such a folder is a package of its own. So the
//! manifests in `sources/` have other names.
//!
//! Each file is embedded with a plain `include_bytes!` rather than in an archive: no code has to
//! unpack an archive, and cargo's own dependency tracking sees each file.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The names of manifests in `sources/`: of the workspace, and of a package.
const MANIFESTS: [&str; 2] = ["workspace.toml", "package.toml"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=sources");
    let sources = env::current_dir()?.join("sources");
    let mut files = Vec::new();
    collect(&sources, &mut files)?;
    files.sort();
    let table = table(&sources, &files)?;
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

fn table(sources: &Path, files: &[PathBuf]) -> io::Result<String> {
    let mut hash = DefaultHasher::new();
    let mut table = String::from("static FILES: &[(&str, &[u8])] = &[\n");
    for file in files {
        let name = name(sources, file);
        let contents = fs::read(file)?;
        (&name, &contents).hash(&mut hash);
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", file.display().to_string()).expect("a string grows");
    }
    let host = env::var("TARGET").expect("set by cargo");
    // The digest only tells the sources of one version from those of another, so no stronger hash
    // function is compiled for it.
    let digest = format!("{:016x}", hash.finish());
    writeln!(table, "];\nconst DIGEST: &str = {digest:?};\npub(crate) const HOST: &str = {host:?};")
        .expect("a string grows");
    Ok(table)
}

/// Where the file lies in a checkout.
fn name(sources: &Path, file: &Path) -> String {
    let name = file.strip_prefix(sources).expect("collected in there");
    let is_manifest = MANIFESTS.iter().any(|manifest| name.ends_with(manifest));
    let name = if is_manifest { name.with_file_name("Cargo.toml") } else { name.to_owned() };
    name.to_str().expect("named in ASCII").to_owned()
}
