//! Makes the lock file for the patch from the user's lock file.
//!
//! Every package keeps its version, except tokio and packages that are too old for the drop-in
//! ([`crate::needs`]). This module writes tokio's entry as cargo would write the drop-in's, and
//! tells cargo to add the missing packages. (`cargo update tokio --precise` would also unlock every
//! dependency of the replaced tokio, and move each to its newest version.) The first attempt does
//! without the network, if the lock file has everything that the manifests ask for: a project that
//! was built before does not need the network.

use std::fs;
use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, anyhow, bail};

use crate::cargo::{Cargo, succeeded};
use crate::lockfile::Patched;
use crate::metadata::Metadata;
use crate::moves::{Move, moves};
use crate::project::Project;
use crate::raised::Raised;
use crate::tokio_real::{VERSION, tree};
use crate::tokios::{self, Demand, Tokios};
use crate::{needs, sources};

/// The versions in a lock file that this command made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Versions {
    /// The versions of the user's lock file, wherever the drop-in doesn't need a newer one.
    AsLocked,
    /// The versions that are on this machine, because the user's could not be downloaded without
    /// the network.
    AtHand,
}

/// Makes the lock file in a temporary folder and renames it, so that an existing lock file is
/// always complete.
pub(crate) fn make(cargo: &Cargo, project: &Project, patched: &Patched, base: &Path) -> Result<Versions> {
    let folder = patched.lock_file().parent().context("a lock file without a folder")?;
    tree::remove_leftovers(folder, ".tmp")?;
    let unfinished = tempfile::tempdir_in(folder)?;
    let is_current = is_users_lock_current(cargo, project);
    let base = fs::read_to_string(base).ok();
    let draft = |name: &str, network| -> Result<Draft<'_>> {
        let folder = unfinished.path().join(name);
        fs::create_dir(&folder)?;
        let patched = patched.with_lock_file(folder.join("Cargo.lock"));
        let draft = Draft { cargo, project, patched, network };
        base.as_ref().map_or(Ok(()), |text| draft.write(text))?;
        Ok(draft)
    };
    let (best, versions) = best(cargo, base.as_deref(), is_current, draft)?;
    for version in Tokios::read(&best.text()?)?.older() {
        eprintln!("note: tokio {version} is in the graph too; it is another library and stays as it is");
    }
    fs::rename(best.patched.lock_file(), patched.lock_file())?;
    Ok(versions)
}

/// Whether the user's lock file has everything that the manifests ask for. If so, only the drop-in
/// has to be added.
fn is_users_lock_current(cargo: &Cargo, project: &Project) -> bool {
    let mut command = cargo.command();
    command.args(["update", "--workspace", "--locked", "--offline"]).args(&project.configuration);
    command.arg("--manifest-path").arg(project.root_manifest());
    project.lock_file().exists() && cargo.output(&mut command).is_ok_and(|output| output.status.success())
}

/// Tries without the network first, but only if the user's lock file is current. Otherwise cargo
/// would choose among the packages on this machine, instead of the newest or the locked versions.
/// That is only the second-best result.
fn best<'a>(
    cargo: &Cargo,
    base: Option<&str>,
    is_current: bool,
    draft: impl Fn(&str, Network) -> Result<Draft<'a>>,
) -> Result<(Draft<'a>, Versions)> {
    if is_current {
        let quick = draft("quick", Network::Unused)?;
        if quick.resolve_as_locked(base).is_ok_and(|changes| changes.is_empty()) {
            return Ok((quick, Versions::AsLocked));
        }
    }
    let mut error = None;
    if !cargo.is_offline() {
        let with = draft("with", Network::Used)?;
        match with.resolve(base) {
            Ok(changes) => {
                report(&changes);
                return Ok((with, Versions::AsLocked));
            }
            Err(failed) => error = Some(failed),
        }
    }
    let without = draft("without", Network::Unused)?;
    let changes = match (without.resolve(base), error) {
        (Ok(changes), Some(error)) => {
            eprintln!("note: only what was downloaded before is looked at, there may be something newer: {error:#}");
            changes
        }
        (Err(_), Some(error)) => return Err(error),
        (result, None) => result?,
    };
    report(&changes);
    Ok((without, Versions::AtHand))
}

/// A difference from the user's lock file, of which the user is told.
pub(crate) struct Change {
    pub(crate) moved: Move,
    pub(crate) is_needed: bool,
}

fn report(changes: &[Change]) {
    for Change { moved, is_needed } in changes {
        let why = if *is_needed { "gmp needs it" } else { "not as in Cargo.lock" };
        eprintln!("note: {moved}: {why}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    Unused,
    Used,
}

/// A lock file that is not finished yet.
pub(crate) struct Draft<'a> {
    cargo: &'a Cargo,
    project: &'a Project,
    patched: Patched,
    network: Network,
}

impl Draft<'_> {
    /// Moves the packages that are too old for the drop-in, and if possible nothing else.
    fn resolve(&self, base: Option<&str>) -> Result<Vec<Change>> {
        let as_locked = self.resolve_as_locked(base);
        if as_locked.as_ref().is_ok_and(Vec::is_empty) {
            return as_locked;
        }
        let (Some(base), text) = (base, self.text()?) else { return as_locked };
        match Raised::find(self, base) {
            Some(Raised { changes, text }) => self.write(&text).map(|()| changes),
            None => self.write(&text).and(as_locked),
        }
    }

    /// Resolves without raising any version. Cargo may still move packages that only the replaced
    /// tokio needed; any other package that is too old is an error.
    fn resolve_as_locked(&self, base: Option<&str>) -> Result<Vec<Change>> {
        self.put_drop_in()?;
        base.map_or(Ok(Vec::new()), |base| self.changes(base, base))
    }

    fn put_drop_in(&self) -> Result<()> {
        self.run(&["update", "--workspace"])?;
        let text = self.text()?;
        let before = Tokios::read(&text)?;
        self.refuse_other_sources(&before)?;
        if before.to_replace().is_some() {
            self.write(&needs::with_drop_in(&text)?)?;
            if let Err(error) = self.run(&["update", "--workspace"]) {
                self.write(&text)?;
                return Err(self.unmet().unwrap_or(error));
            }
            self.check_replaced()?;
        }
        Ok(())
    }

    fn check_replaced(&self) -> Result<()> {
        let after = Tokios::read(&self.text()?)?;
        self.refuse_other_sources(&after)?;
        let Some((left, source)) = after.to_replace() else { return Ok(()) };
        let unreached =
            || anyhow!("the patch doesn't reach tokio {} from {source}, which is not crates.io's", left.version);
        Err(self.unmet().unwrap_or_else(unreached))
    }

    /// The lock file `base` with the drop-in, and with the lowest versions of all packages that
    /// both have.
    pub(crate) fn lowest(&self, base: &str, drop_ins: &str) -> Result<String> {
        let tokio = Tokios::read(base)?.to_replace_spec().context("no tokio to start from")?;
        self.write(&needs::without_shared(base, drop_ins)?)?;
        self.run_with(&self.patched.choosing_the_lowest(), &["update", &tokio, "--precise", VERSION])?;
        self.text()
    }

    /// The lock file of the drop-in alone.
    pub(crate) fn drop_ins(&self) -> Result<String> {
        sources::lock_file(self.patched.drop_in(), self.cargo, self.network == Network::Unused)
    }

    /// The lock file that results from `raised` with the drop-in, and the moves since `base`.
    pub(crate) fn resolve_from(&self, base: &str, raised: &str) -> Result<Raised> {
        self.write(&needs::with_drop_in(raised)?)?;
        self.run(&["update", "--workspace"])?;
        self.check_replaced()?;
        Ok(Raised { changes: self.changes(base, raised)?, text: self.text()? })
    }

    fn write(&self, text: &str) -> Result<()> {
        Ok(fs::write(self.patched.lock_file(), text)?)
    }

    fn text(&self) -> Result<String> {
        Ok(fs::read_to_string(self.patched.lock_file())?)
    }

    /// The moves since `base`. A move that `raised` has too was needed.
    fn changes(&self, base: &str, raised: &str) -> Result<Vec<Change>> {
        let needed = moves(base, raised)?;
        let moves = moves(base, &self.text()?)?.into_iter();
        Ok(moves.map(|moved| Change { is_needed: needed.contains(&moved), moved }).collect())
    }

    /// Runs a cargo command that reads or changes this lock file.
    fn run(&self, arguments: &[&str]) -> Result<Output> {
        self.run_with(&self.patched, arguments)
    }

    fn run_with(&self, patched: &Patched, arguments: &[&str]) -> Result<Output> {
        let mut command = self.cargo.command();
        command.args(arguments).args(patched.arguments()?).args(&self.project.configuration);
        command.arg("--manifest-path").arg(self.project.root_manifest()).envs(patched.environment());
        if self.network == Network::Unused {
            command.arg("--offline");
        }
        succeeded(self.cargo.output(&mut command)?)
    }

    /// A project may ask for a tokio from another source than the registry. The patch does not
    /// replace such a tokio.
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

    /// Names the packages whose requirement the drop-in's version doesn't meet. `None` if there are
    /// no such packages, so the cause is another one.
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
        Ok(tokios::demands(&Metadata::parse(&output.stdout)?))
    }
}
