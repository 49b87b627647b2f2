//! The package that the tests are compiled in. It is named `tokio`, its library is the drop-in, and
//! its workspace patches `tokio` to this package, for tokio-test and tokio-stream.
//!
//! With one test binary per file, the same library would be linked 150 times. Instead, files with
//! the same first part of their name are put together as modules of one binary. They can be,
//! because every test runs in its own process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::exceptions::Exceptions;
use crate::options::Options;
use crate::round::Round;
use crate::source::drop_in;
use crate::units;

/// The first parts of names that have their own group. All other files are in `misc`.
const GROUPS: [(&str, &str); 15] = [
    ("fs", "fs"),
    ("io", "io"),
    ("macros", "macros"),
    ("net", "net"),
    ("process", "process"),
    ("rt", "rt"),
    ("signal", "signal"),
    ("sync", "sync"),
    ("task", "task"),
    ("tcp", "net"),
    ("time", "time"),
    ("test", "time"),
    ("udp", "net"),
    ("uds", "net"),
    ("unix", "net"),
];

/// The package's folder and the names of its groups.
#[derive(Debug)]
pub(crate) struct Groups {
    pub(crate) folder: PathBuf,
    pub(crate) names: Vec<String>,
    pub(crate) files: usize,
}

pub(crate) fn make(tests: &Path, exceptions: &Exceptions, options: &Options) -> Result<Groups, String> {
    let folder = options.round.folder();
    write_all(tests, &folder, exceptions, options).map_err(|error| format!("{}: {error}", folder.display()))
}

fn write_all(tests: &Path, folder: &Path, exceptions: &Exceptions, options: &Options) -> io::Result<Groups> {
    copy_changed(tests, &folder.join("tests"))?;
    let groups = group(tests, exceptions, options)?;
    let files = groups.values().map(Vec::len).sum();
    for (name, files) in &groups {
        let modules: String = files.iter().map(|file| format!("#[path = \"{file}.rs\"]\nmod {file};\n")).collect();
        write_changed(&folder.join(format!("tests/{name}__.rs")), &modules)?;
    }
    let mut names: Vec<String> = groups.into_keys().map(str::to_owned).collect();
    write_changed(&folder.join("Cargo.toml"), &manifest(&names, options.round)?)?;
    if options.round.has_units() {
        units::make(folder)?;
    }
    if options.round.has_units() && options.wants_group(units::GROUP) {
        names.push(units::GROUP.to_owned());
    }
    Ok(Groups { folder: folder.to_owned(), names, files })
}

/// The files of each group.
fn group(tests: &Path, exceptions: &Exceptions, options: &Options) -> io::Result<BTreeMap<&'static str, Vec<String>>> {
    let mut groups = BTreeMap::<_, Vec<String>>::new();
    for entry in fs::read_dir(tests)? {
        let path = entry?.path();
        let Some(file) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if path.is_dir() || !exceptions.is_compiled(file) || !options.round.wants(&fs::read_to_string(&path)?) {
            continue;
        }
        let first = file.split('_').next().unwrap_or(file);
        let group = GROUPS.iter().find(|(part, _)| *part == first).map_or("misc", |(_, group)| group);
        if options.wants_group(group) {
            groups.entry(group).or_default().push(file.to_owned());
        }
    }
    groups.values_mut().for_each(|files| files.sort());
    Ok(groups)
}

/// Writes a file only if its text has changed, because cargo compares modification times.
pub(crate) fn write_changed(path: &Path, text: &str) -> io::Result<()> {
    match fs::read_to_string(path) {
        Ok(old) if old == text => Ok(()),
        _ => fs::write(path, text),
    }
}

fn copy_changed(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let target = to.join(path.file_name().expect("an entry has a name"));
        if path.is_dir() {
            copy_changed(&path, &target)?;
        } else {
            write_changed(&target, &as_module(&path)?)?;
        }
    }
    Ok(())
}

/// The text of a file that was a crate root and is now a module.
fn as_module(path: &Path) -> io::Result<String> {
    let file = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    Ok(fs::read_to_string(path)?.replace(" crate::", &format!(" crate::{file}::")))
}

/// The drop-in's own manifest, with the tests, their dependencies and the patch.
fn manifest(groups: &[String], round: Round) -> io::Result<String> {
    let own = fs::read_to_string(drop_in().join("Cargo.toml"))?;
    // Our lints don't apply to tokio's tests.
    let (own, _) = own.split_once("[lints.rust]").expect("the drop-in's manifest has lints");
    let (_, package) = own.split_once("[package]").expect("the drop-in's manifest has a package");
    let package = package
        .replace("path = \"../", "path = \"../../../")
        .replace("path = \"io\"", "path = \"../../io\"")
        .replace("path = \"tokio-real\"", "path = \"../../tokio-real\"");
    let tests: String = groups
        .iter()
        .map(|name| format!("[[test]]\nname = \"{name}\"\npath = \"tests/{name}__.rs\"\nedition = \"2021\"\n\n"))
        .collect();
    let members: &[&str] = if round.has_units() { &[units::GROUP] } else { &[] };
    Ok(format!(
        "# Runs the tests of https://tokio.rs on gmp. (One of them wants to find that address here.)\n[workspace]\nmembers = {members:?}\nresolver = \"3\"\n\n[package]\nautotests = false{package}\n{REST}\n{tests}"
    ))
}

/// The dependencies are those of tokio's tests.
const REST: &str = r#"
[lib]
path = "../../src/lib.rs"
test = false
doctest = false

[dev-dependencies]
backtrace = "0.3"
bytes = "1"
futures = { version = "0.3", features = ["async-await"] }
futures-test = "0.3"
libc = "0.2"
pin-project-lite = "0.2"
nix = { version = "0.31", default-features = false, features = ["aio", "fs", "socket"] }
rand = "0.9"
socket2 = "0.6"
tempfile = "3"
tokio-stream = "0.1"
tokio-test = "0.4"

[target."cfg(tokio_unstable)".dev-dependencies]
tracing = "0.1"
tracing-mock = "=0.1.0-beta.1"

[patch.crates-io]
tokio = { path = "." }
"#;
