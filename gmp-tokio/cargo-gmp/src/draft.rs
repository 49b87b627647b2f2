//! Making the lock file that goes with the patch, out of the user's.
//!
//! Everything keeps its version but tokio and what the drop-in needs newer. Cargo knows no such request; it is told to
//! add what is missing, then to move tokio. The first attempt does without the network, as the lock file of a project
//! that was built before needs none.

use crate::cargo::{Cargo, succeeded};
use crate::lockfile::Patched;
use crate::moves::{Move, moves};
use crate::project::Project;
use crate::tokio_real::VERSION;
use crate::tokios::{self, Demand, Tokios};
use anyhow::{Context, Result, anyhow, bail, ensure};
use cargo_metadata::MetadataCommand;
use std::fs;
use std::path::Path;
use std::process::Output;

/// Which versions are in a lock file that was made here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// The user's, wherever the drop-in doesn't need a newer one.
    AsLocked,
    /// Those that are on this machine, where there was no network to get the user's.
    AtHand,
}

/// Made in a folder of its own and renamed, so that a lock file that is there is always a whole one.
pub(crate) fn make(cargo: &Cargo, project: &Project, patched: &Patched, base: &Path) -> Result<Versions> {
    let folder = patched.lock_file().parent().context("a lock file without a folder")?;
    let unfinished = tempfile::tempdir_in(folder)?;
    let base = fs::read_to_string(base).ok();
    let draft = |name: &str, network| -> Result<Draft<'_>> {
        let folder = unfinished.path().join(name);
        fs::create_dir(&folder)?;
        let patched = patched.with_lock_file(folder.join("Cargo.lock"));
        if let Some(text) = &base {
            fs::write(patched.lock_file(), text)?;
        }
        Ok(Draft { cargo, project, patched, network })
    };
    let (best, versions) = best(cargo, base.as_deref(), draft)?;
    fs::rename(best.patched.lock_file(), patched.lock_file())?;
    Ok(versions)
}

/// Tries without the network first. Cargo then takes what it has instead of what is locked, which is second best.
fn best<'a>(
    cargo: &Cargo,
    base: Option<&str>,
    draft: impl Fn(&str, Network) -> Result<Draft<'a>>,
) -> Result<(Draft<'a>, Versions)> {
    let without = draft("without", Network::Unused)?;
    let first = without.resolve().and_then(|()| without.moves(base));
    if first.as_ref().is_ok_and(Vec::is_empty) {
        return Ok((without, Versions::AsLocked));
    }
    if !cargo.is_offline() {
        let with = draft("with", Network::Used)?;
        match with.resolve().and_then(|()| with.moves(base)) {
            Ok(moves) => {
                report(&moves);
                return Ok((with, Versions::AsLocked));
            }
            Err(error) if first.is_err() => return Err(error),
            Err(_) => {}
        }
    }
    report(&first?);
    Ok((without, Versions::AtHand))
}

fn report(moves: &[Move]) {
    for moved in moves {
        eprintln!("note: {moved}, not as in Cargo.lock");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    Unused,
    Used,
}

/// A lock file in the making.
struct Draft<'a> {
    cargo: &'a Cargo,
    project: &'a Project,
    patched: Patched,
    network: Network,
}

impl Draft<'_> {
    fn resolve(&self) -> Result<()> {
        self.run(&["update", "--workspace"])?;
        let before = Tokios::read(&self.text()?)?;
        self.refuse_other_sources(&before)?;
        if let Some((locked, source)) = before.to_replace() {
            let package = format!("{source}#tokio@{}", locked.version);
            if let Err(error) = self.run(&["update", &package, "--precise", VERSION]) {
                return Err(self.unmet().unwrap_or(error));
            }
            let after = Tokios::read(&self.text()?)?;
            self.refuse_other_sources(&after)?;
            let left = after.to_replace().map(|(locked, source)| format!("tokio {} from {source}", locked.version));
            ensure!(left.is_none(), "the patch doesn't reach {}, which is not crates.io's", left.unwrap_or_default());
        }
        for version in before.older() {
            eprintln!("note: tokio {version} is in the graph too; it is another library and stays as it is");
        }
        Ok(())
    }

    fn text(&self) -> Result<String> {
        Ok(fs::read_to_string(self.patched.lock_file())?)
    }

    fn moves(&self, base: Option<&str>) -> Result<Vec<Move>> {
        base.map_or(Ok(Vec::new()), |base| moves(base, &self.text()?))
    }

    /// Runs a cargo command that reads or changes this lock file.
    fn run(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = self.cargo.command();
        command.args(arguments).args(self.patched.arguments()?).args(&self.project.configuration);
        command.arg("--manifest-path").arg(self.project.root_manifest()).envs(self.patched.environment());
        if self.network == Network::Unused {
            command.arg("--offline");
        }
        succeeded(self.cargo.output(&mut command)?)
    }

    /// A project may ask for tokio from somewhere else than the registry, where the patch doesn't reach.
    fn refuse_other_sources(&self, tokios: &Tokios) -> Result<()> {
        if let Some(url) = tokios.git_repository() {
            let by = self.who(|demand| demand.source.as_deref().is_some_and(|source| source.starts_with("git+")));
            bail!("{by} takes tokio from git ({url}); only tokio from crates.io can be replaced by gmp");
        }
        if tokios.has_other_folder() {
            let by = self.who(|demand| demand.source.is_none());
            bail!("{by} takes tokio from a folder (`path = ...`); only tokio from crates.io can be replaced by gmp");
        }
        Ok(())
    }

    fn who(&self, is_meant: impl Fn(&Demand) -> bool) -> String {
        let demands = self.demands().unwrap_or_default();
        let by: Vec<_> =
            demands.iter().filter(|demand| is_meant(demand)).map(|demand| format!("`{}`", demand.by)).collect();
        if by.is_empty() { "a dependency".to_owned() } else { by.join(", ") }
    }

    /// Says whose requirement the drop-in's version doesn't meet, if that is what is wrong.
    fn unmet(&self) -> Option<anyhow::Error> {
        let version = tokios::drop_in_version();
        let demands = self.demands().ok()?;
        let unmet = demands.iter().filter(|demand| !demand.requirement.matches(&version));
        let lines: Vec<_> =
            unmet.map(|demand| format!("`{}` requires tokio `{}`", demand.by, demand.requirement)).collect();
        (!lines.is_empty()).then(|| anyhow!("{}, which gmp's tokio {VERSION} doesn't meet", lines.join(" and ")))
    }

    fn demands(&self) -> Result<Vec<Demand>> {
        let output = self.run(&["metadata", "--format-version", "1"])?;
        Ok(tokios::demands(&MetadataCommand::parse(String::from_utf8(output.stdout)?)?))
    }
}
