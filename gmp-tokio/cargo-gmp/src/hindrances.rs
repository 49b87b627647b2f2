//! Settings of a project that conflict with gmp. This command reports them before cargo fails with
//! a less clear message.

use std::path::Path;

use anyhow::{Error, Result, bail};

use crate::arguments::Arguments;
use crate::cargo::{Cargo, LockfileOption};
use crate::configuration::{self, Setting};
use crate::doctor::is_unix;
use crate::project::Project;

pub(crate) fn check(cargo: &Cargo, project: &Project) -> Result<()> {
    // Fails if cargo is too old.
    cargo.lockfile_option()?;
    let here = project.current_directory()?;
    check_patches(&here)?;
    check_unstable(cargo, &here)
}

/// Checks the target here, because the compiler would otherwise report a long list of missing
/// items.
pub(crate) fn check_target(arguments: &Arguments, project: &Project) -> Result<()> {
    match target(arguments, project)?.filter(|target| !is_unix(target)) {
        None => Ok(()),
        Some(target) => bail!("gmp runs on Linux and other Unix, not on {target}"),
    }
}

/// Seeded runs answer calls of glibc's. In other programs nothing is seeded. (Cargo calls this machine's
/// platform `host-tuple`.)
pub(crate) fn check_seeded_target(arguments: &Arguments, project: &Project) -> Result<()> {
    let has_glibc = |target: &str| target.ends_with("-linux-gnu") || target == "host-tuple";
    match target(arguments, project)?.filter(|target| !has_glibc(target)) {
        None => Ok(()),
        Some(target) => bail!("seeded runs need Linux with glibc, not {target}"),
    }
}

/// The target that is given or configured.
fn target(arguments: &Arguments, project: &Project) -> Result<Option<String>> {
    let here = project.current_directory()?;
    let given = arguments.target.as_ref().map(|target| target.to_string_lossy().into_owned());
    let configured = || Some(configuration::targets(&here).ok()?.first()?.text.clone());
    Ok(given.or_else(configured))
}

/// Cargo would use only one of two patches, or call both ambiguous.
fn check_patches(here: &Path) -> Result<()> {
    match configuration::patches(here)?.first() {
        None => Ok(()),
        Some(Setting { place, .. }) => bail!("{place} patches tokio; `cargo gmp` needs that place"),
    }
}

/// Adds an explanation to an error about missing packages, if the project has vendored its
/// packages.
pub(crate) fn explain(error: Error, project: &Project) -> Error {
    let vendored = project.current_directory().and_then(|here| configuration::vendored(&here));
    let Ok(Some(Setting { text, place })) = vendored else { return error };
    error.context(format!(
        "crates.io is replaced by the folder {text} (in {place}), which may lack packages that gmp needs. To have them in \
         there: take the replacement out, run `cargo gmp patch`, `cargo vendor`, and put the replacement in again; from \
         then on cargo alone builds on gmp"
    ))
}

/// The variable that unlocks a stable cargo unlocks everything in `[unstable]`. Cargo joins lists,
/// so no command-line option can empty one.
fn check_unstable(cargo: &Cargo, here: &Path) -> Result<()> {
    let Some((setting, _)) = ignored(cargo, here)?.into_iter().find(|(_, is_switch)| !is_switch) else {
        return Ok(());
    };
    let Setting { text, place } = setting;
    bail!(
        "`unstable.{text}` in {place}, which this cargo ignores, would be obeyed under `cargo gmp`; take it out, or use \
         cargo 1.97 or newer"
    )
}

/// The names in `[unstable]` that can be switched off.
pub(crate) fn ignored_switches(cargo: &Cargo, project: &Project) -> Result<Vec<String>> {
    let all = ignored(cargo, &project.current_directory()?)?.into_iter();
    Ok(all.filter(|(_, is_switch)| *is_switch).map(|(setting, _)| setting.text).collect())
}

fn ignored(cargo: &Cargo, here: &Path) -> Result<Vec<(Setting, bool)>> {
    let all = configuration::unstable(here)?;
    let is_obeyed = all.is_empty() || cargo.lockfile_option()? == LockfileOption::Stable || cargo.is_nightly()?;
    Ok(if is_obeyed { Vec::new() } else { all })
}
