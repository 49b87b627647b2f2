//! `cargo gmp install`: a program from the registry, on gmp.
//!
//! `cargo install` takes a patch from its command line, but keeps either all or nothing of the lock file that a package
//! was published with. With `--locked` tokio stays the registry's: the patch is not used, a warning says so, and the
//! program is installed all the same. Without it, every crate gets a version that its authors have never seen.
//!
//! So the package is copied into a folder of the user's cache and installed from there, with a lock file that is made as
//! for any project: everything has the version it was published with, but tokio and what the drop-in needs. What is built
//! goes away afterwards, as with cargo, so this process does not become cargo here: it waits.

use crate::arguments::Arguments;
use crate::cargo::Cargo;
use crate::tokio_real::tree;
use crate::{package, run, sources};
use anyhow::{Context, Result, bail, ensure};
use cargo_metadata::semver::Version;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};
use toml_edit::{Item, Table};

/// Options of `cargo install` whose value may be the next argument.
const WITH_VALUE: [&str; 14] = [
    "--bin",
    "--color",
    "--config",
    "--example",
    "--features",
    "--jobs",
    "--message-format",
    "--profile",
    "--root",
    "--target",
    "--target-dir",
    "-F",
    "-Z",
    "-j",
];

const REFUSED: [(&str, &str); 4] = [
    ("--git", "clone the repository, and give its folder with --path"),
    ("--index", "only programs from crates.io can be installed, or from a folder with --path"),
    ("--list", "use `cargo install --list`"),
    ("--registry", "only programs from crates.io can be installed, or from a folder with --path"),
];

pub(crate) fn install(arguments: Vec<OsString>) -> Result<ExitCode> {
    let request = Request::parse(arguments)?;
    let mut arguments = Arguments { locked: request.locked, ..Arguments::parse(request.rest) };
    let cargo = Cargo::from_env(arguments.offline);
    let (name, version) = match request.from {
        Source::Folder(folder) => return install_from(&cargo, &folder, arguments),
        Source::Registry(name, version) => (name, version),
    };
    let package = package::download(&cargo, &name, &version)?.folder;
    let folder = copy(&package, &sources::cache_folder()?.join("packages"))?;
    if arguments.has_target_dir || env::var_os("CARGO_TARGET_DIR").is_some() {
        return install_from(&cargo, &folder, arguments);
    }
    let built = tempfile::tempdir()?;
    arguments.all.extend(["--target-dir".into(), built.path().into()]);
    arguments.has_target_dir = true;
    install_from(&cargo, &folder, arguments)
}

/// A copy of cargo's own, to which nothing may be written, in the place that it always has: cargo then sees what was
/// built from it before. Copied elsewhere and renamed, so that a copy that is there is a whole one.
fn copy(package: &Path, place: &Path) -> Result<PathBuf> {
    fs::create_dir_all(place).with_context(|| format!("can't make {}", place.display()))?;
    let folder = place.join(package.file_name().context("a package without a folder")?);
    if !folder.exists() {
        let unfinished = tempfile::tempdir_in(place)?;
        let copy = unfinished.path().join("copy");
        tree::copy(package, &copy)?;
        make_workspace(&copy.join("Cargo.toml"))?;
        // Somebody else may have been faster.
        fs::rename(copy, &folder).or_else(|error| if folder.exists() { Ok(()) } else { Err(error) })?;
    }
    Ok(folder)
}

/// Makes the package a workspace of its own: cargo would count it to one that lies around the cache folder, and refuse it
/// for not being listed there. Cargo publishes no manifest that says which workspace a package belongs to.
fn make_workspace(manifest: &Path) -> Result<()> {
    sources::rewrite(manifest, |manifest| {
        manifest.entry("workspace").or_insert(Item::Table(Table::new()));
    })
}

fn install_from(cargo: &Cargo, folder: &Path, mut arguments: Arguments) -> Result<ExitCode> {
    let mut all: Vec<OsString> = vec!["--path".into(), folder.into()];
    if !arguments.locked {
        // Or cargo would not look at the lock file at all.
        all.push("--locked".into());
    }
    all.append(&mut arguments.all);
    arguments.all = all;
    arguments.manifest_path = Some(folder.join("Cargo.toml"));
    let mut command = run::prepare(cargo, "install".as_ref(), &arguments)?;
    let status = command.status().context("can't start cargo")?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// What is to be installed, and what cargo is told beside that.
#[derive(Debug)]
struct Request {
    from: Source,
    locked: bool,
    rest: Vec<OsString>,
}

#[derive(Debug, PartialEq, Eq)]
enum Source {
    /// A name, and a requirement on its version.
    Registry(String, String),
    Folder(PathBuf),
}

impl Request {
    fn parse(arguments: Vec<OsString>) -> Result<Self> {
        let (mut names, mut version, mut folder, mut locked, mut rest) = (vec![], None, None, false, vec![]);
        let mut given = arguments.into_iter();
        while let Some(argument) = given.next() {
            let text = argument.to_str().with_context(|| format!("{} is not UTF-8", argument.display()))?;
            let (option, value) = text.split_once('=').map_or((text, None), |(option, value)| (option, Some(value)));
            let mut value = || {
                let value = value.map(OsString::from).or_else(|| given.next());
                value.with_context(|| format!("`{option}` needs a value"))
            };
            match option {
                "--version" | "--vers" => version = Some(value()?),
                "--path" => folder = Some(PathBuf::from(value()?)),
                "--locked" => locked = true,
                _ if !text.starts_with('-') => names.push(text.to_owned()),
                _ => {
                    refuse(option)?;
                    let takes_next = text == option && WITH_VALUE.contains(&option);
                    rest.push(OsString::from(text));
                    rest.extend(takes_next.then(|| given.next()).flatten());
                }
            }
        }
        let from = match folder {
            Some(folder) => Source::Folder(folder),
            None => from_registry(&names, version)?,
        };
        Ok(Request { from, locked, rest })
    }
}

fn refuse(option: &str) -> Result<()> {
    match REFUSED.iter().find(|(refused, _)| *refused == option) {
        None => Ok(()),
        Some((_, instead)) => bail!("`cargo gmp install` does not take {option}: {instead}"),
    }
}

fn from_registry(names: &[String], version: Option<OsString>) -> Result<Source> {
    let [name] = names else {
        bail!("`cargo gmp install` takes one program: its name, name@version, or --path and a folder");
    };
    let version = version.map(|version| version.to_string_lossy().into_owned());
    let (name, version) = match (name.split_once('@'), version) {
        (None, version) => (name.as_str(), version),
        (Some((name, version)), None) => (name, Some(version.to_owned())),
        (Some(_), Some(version)) => bail!("`{name}` has a version already; --version {version} is one too many"),
    };
    ensure!(!name.is_empty(), "`cargo gmp install` needs the name of a program");
    Ok(Source::Registry(name.to_owned(), requirement(version)))
}

/// As `cargo install` has it: a whole version means that one and no other.
fn requirement(version: Option<String>) -> String {
    match version {
        None => "*".to_owned(),
        Some(version) if Version::parse(&version).is_ok() => format!("={version}"),
        Some(requirement) => requirement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Request> {
        Request::parse(line.split_whitespace().map(OsString::from).collect())
    }

    fn registry(name: &str, requirement: &str) -> Source {
        Source::Registry(name.to_owned(), requirement.to_owned())
    }

    #[test]
    fn a_program_is_named_as_for_cargo() {
        let from = |line| parse(line).unwrap().from;
        assert_eq!(from("server"), registry("server", "*"));
        assert_eq!(from("server@1.2.3"), registry("server", "=1.2.3"));
        assert_eq!(from("--version 1.2.3 server"), registry("server", "=1.2.3"));
        assert_eq!(from("--version=^1.2 server"), registry("server", "^1.2"));
        assert_eq!(from("--path ../server"), Source::Folder("../server".into()));
    }

    #[test]
    fn a_copy_below_a_workspace_is_a_workspace_of_its_own() {
        let top = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("workspace/Cargo.toml", "[workspace]\nresolver = \"3\"\n");
        let package = "[package]\nname = \"server\"\nversion = \"1.0.0\"\n";
        for (version, workspace) in [("1.0.0", ""), ("1.0.1", "\n[workspace]\nexclude = [\"tests\"]\n")] {
            let name = format!("server-{version}");
            write(&format!("{name}/Cargo.toml"), &format!("{package}{workspace}"));
            write(&format!("{name}/src/main.rs"), "fn main() {}\n");
            let folder = copy(&top.path().join(&name), &top.path().join("workspace/cache")).unwrap();
            assert_eq!(folder, top.path().join("workspace/cache").join(&name));
            let mut command = Cargo::from_env(true).command();
            command.args(["metadata", "--offline", "--format-version=1"]).current_dir(&folder);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            assert!(fs::read_to_string(folder.join("Cargo.toml")).unwrap().contains(workspace));
        }
    }

    #[test]
    fn values_of_cargos_options_are_not_names() {
        let request = parse("--root a --features=b -F c server --debug --locked --bin d").unwrap();
        assert_eq!(request.from, registry("server", "*"));
        assert!(request.locked);
        assert_eq!(request.rest, ["--root", "a", "--features=b", "-F", "c", "--debug", "--bin", "d"]);
    }

    #[test]
    fn what_is_not_one_program_is_refused_by_name() {
        let error = |line| parse(line).unwrap_err().to_string();
        assert!(error("").contains("takes one program"));
        assert!(error("one two").contains("takes one program"));
        assert!(error("@1.0.0").contains("needs the name"));
        assert!(error("one@1.0.0 --version 2").contains("--version 2 is one too many"));
        assert_eq!(error("--version"), "`--version` needs a value");
        assert!(error("--git https://example.org/server").contains("--git: clone the repository"));
    }
}
