//! What stands in gmp's way in a project, and is better said before cargo trips over it.

use std::path::Path;

use anyhow::{Error, Result, bail};

use crate::arguments::Arguments;
use crate::cargo::{Cargo, LockfileOption};
use crate::configuration::{self, Setting};
use crate::doctor::is_unix;
use crate::project::Project;

pub(crate) fn check(cargo: &Cargo, project: &Project) -> Result<()> {
    // Whether it is new enough.
    cargo.lockfile_option()?;
    let here = project.current_directory()?;
    check_patches(&here)?;
    check_unstable(cargo, &here)
}

/// Or the compiler would find a hundred things missing.
pub(crate) fn check_target(arguments: &Arguments, project: &Project) -> Result<()> {
    let here = project.current_directory()?;
    let given = arguments.target.as_ref().map(|target| target.to_string_lossy().into_owned());
    let configured = || Some(configuration::targets(&here).ok()?.first()?.text.clone());
    match given.or_else(configured).filter(|target| !is_unix(target)) {
        None => Ok(()),
        Some(target) => bail!("gmp runs on Linux and other Unix, not on {target}"),
    }
}

/// Cargo would take one of two patches, or call both ambiguous.
fn check_patches(here: &Path) -> Result<()> {
    match configuration::patches(here)?.first() {
        None => Ok(()),
        Some(Setting { place, .. }) => bail!("{place} patches tokio; `cargo gmp` needs that place"),
    }
}

/// Says more about an error that comes of packages that are not there, if the project has its own.
pub(crate) fn explain(error: Error, project: &Project) -> Error {
    let vendored = project.current_directory().and_then(|here| configuration::vendored(&here));
    let Ok(Some(Setting { text, place })) = vendored else { return error };
    error.context(format!(
        "crates.io is replaced by the folder {text} (in {place}), which may lack packages that gmp needs. To have them in \
         there: take the replacement out, run `cargo gmp patch`, `cargo vendor`, and put the replacement in again; from \
         then on cargo alone builds on gmp"
    ))
}

/// What is told to a stable cargo as if it were a nightly one unlocks all of `[unstable]`. Lists
/// are joined, so no option can empty one.
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
