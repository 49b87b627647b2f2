//! The package to install: a program from the registry, or a folder.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use semver::Version;

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

/// The package to install, and the other arguments for cargo.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) from: Source,
    pub(super) locked: bool,
    pub(super) rest: Vec<OsString>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A name and a version requirement.
    Registry(String, String),
    Folder(PathBuf),
}

impl Request {
    pub(super) fn parse(arguments: Vec<OsString>) -> Result<Self> {
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
            Some(folder) => from_folder(folder, &names, version)?,
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

fn from_folder(folder: PathBuf, names: &[String], version: Option<OsString>) -> Result<Source> {
    let place = folder.display();
    if let Some(name) = names.first() {
        bail!("`--path {place}` says already what to install; `{name}` is one too many (--bin chooses a program)");
    }
    if let Some(version) = version {
        bail!(
            "`--path {place}` has the version that its Cargo.toml says; --version {} is for names",
            version.display()
        );
    }
    Ok(Source::Folder(folder))
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

/// As in `cargo install`: a complete version means exactly that version.
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
        assert!(error("--path a two").contains("`two` is one too many"));
        assert!(error("two@1.0.0 --path=a").contains("`two@1.0.0` is one too many"));
        assert!(error("--path a --version 1.2.3").contains("--version 1.2.3 is for names"));
        assert_eq!(error("--version"), "`--version` needs a value");
        assert!(error("--git https://example.org/server").contains("--git: clone the repository"));
    }
}
