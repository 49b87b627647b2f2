//! The lock file for the patch. The user's own lock file is read and never written.
//!
//! Under the patch the graph has the drop-in and its dependencies instead of tokio. Cargo wants to
//! write that graph to a lock file. It must not write to the user's `Cargo.lock`, which has to be
//! the same byte for byte afterwards, also after kill -9, and which an editor's language server,
//! git or a second `cargo gmp` may read at any moment. So cargo gets another lock file, through its
//! option `resolver.lockfile-path`, and nothing has to be restored.
//!
//! That option is stable since cargo 1.97. Cargo 1.95 and 1.96 have the option, and it works the
//! same, but they require `-Z lockfile-path` and a nightly. A variable of cargo's own tests makes a
//! stable cargo accept the flag. `RUSTC_BOOTSTRAP` would do so as well, but the compiler and every
//! build script would see that variable and change what they compile. If the variable ever stopped
//! working, cargo would refuse the flag, and nothing would be written.
//!
//! Rejected: replacing `Cargo.lock` and restoring it (other processes see the replacement; a plain
//! `cargo build` in between decides which version remains; kill -9 loses the original), and a copy
//! of the workspace made of links (programs and build scripts see the path of that copy:
//! `CARGO_MANIFEST_DIR`, `../proto`, files they create).
//!
//! The file starts as a copy of the user's, so that all other packages keep their versions. tokio
//! moves to the drop-in's version, because cargo does not use a patch for a version that the lock
//! file doesn't name. The file is made again only when the user's lock file, a manifest or the
//! drop-in has changed.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use hmac_sha256::Hash as Sha256;
use toml_edit::{DocumentMut, Value};

use crate::arguments::Arguments;
use crate::cargo::{Cargo, LockfileOption};
use crate::draft::{self, Versions};
use crate::project::Project;
use crate::sources::path_text;
use crate::tokios::{self, Tokios};
use crate::{digest, hindrances};

/// Unlocks `-Z` flags in a stable cargo, and changes nothing else.
pub(crate) const UNLOCK: (&str, &str) = ("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly");

/// gmp-exec is compiled with this optimization in tests and debug builds, where cargo would choose
/// none. The scheduler has more and smaller functions than tokio, and each is a call then: turmoil's
/// tests took 1.7 times as long as on tokio without it, and take 0.6 times as long with it. The
/// program's own code keeps the profile of its user.
const OPTIMIZATION: &str = "profile.dev.package.gmp-exec.opt-level=1";

/// The settings that make cargo use the drop-in instead of tokio.
#[derive(Clone, Debug)]
pub(crate) struct Patched {
    drop_in: PathBuf,
    lock_file: PathBuf,
    option: LockfileOption,
    /// Whether the manifest has the patch already. Cargo reports an error if it gets the patch
    /// twice.
    is_in_manifest: bool,
    /// Whether no package depends on tokio. Cargo would warn that the patch is not used.
    is_unused: bool,
    chooses_the_lowest: bool,
    /// The options that the user's `[unstable]` switches on. A stable cargo ignores them, unless it
    /// is unlocked.
    switched_off: Vec<String>,
}

impl Patched {
    /// The arguments. They may come before or after the subcommand.
    pub(crate) fn arguments(&self) -> Result<Vec<OsString>> {
        let mut arguments = vec!["--config".into(), assignment("resolver.lockfile-path", &self.lock_file)?];
        arguments.extend(["--config", OPTIMIZATION].map(Into::into));
        if !self.is_in_manifest && !self.is_unused {
            arguments.extend(["--config".into(), assignment("patch.crates-io.tokio.path", &self.drop_in)?]);
        }
        if self.option == LockfileOption::Unstable {
            // As a flag, so that a cargo that refuses the flag stops. Also as configuration, for
            // tools that pass only configuration to every cargo they start.
            arguments.extend(["-Z", "lockfile-path", "--config", "unstable.lockfile-path=true"].map(Into::into));
        }
        for name in &self.switched_off {
            arguments.extend(["--config".into(), format!("unstable.{name}=false").into()]);
        }
        if self.chooses_the_lowest {
            arguments.extend(["-Z", "minimal-versions"].map(Into::into));
        }
        Ok(arguments)
    }

    /// The same settings with the drop-in that `make` makes of the ordinary one.
    pub(crate) fn seeded(&self, make: impl FnOnce(&Path) -> Result<PathBuf>) -> Result<Self> {
        ensure!(
            !self.is_in_manifest,
            "seeded runs need another patch than that in Cargo.toml: `cargo gmp unpatch` first"
        );
        Ok(Patched { drop_in: make(&self.drop_in)?, ..self.clone() })
    }

    pub(crate) fn drop_in(&self) -> &Path {
        &self.drop_in
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.is_unused
    }

    pub(crate) fn lock_file(&self) -> &Path {
        &self.lock_file
    }

    /// The variable that the arguments need, and its value.
    pub(crate) fn environment(&self) -> Option<(&'static str, &'static str)> {
        (self.option == LockfileOption::Unstable || self.chooses_the_lowest).then_some(UNLOCK)
    }

    pub(crate) fn with_lock_file(&self, lock_file: PathBuf) -> Self {
        Patched { lock_file, ..self.clone() }
    }

    /// The same settings for a cargo that gives every package that isn't locked the lowest version.
    /// Only for resolving, not for a build.
    pub(crate) fn choosing_the_lowest(&self) -> Self {
        Patched { chooses_the_lowest: true, ..self.clone() }
    }
}

/// `key="path"`, as `--config` takes it.
pub(crate) fn assignment(key: &str, path: &Path) -> Result<OsString> {
    Ok(format!("{key}={}", Value::from(path_text(path)?)).into())
}

/// Makes the lock file for `project` under the patch, unless it exists and is current.
pub(crate) fn prepare(cargo: &Cargo, project: &Project, arguments: &Arguments, drop_in: &Path) -> Result<Patched> {
    let folder = make_folder(project)?;
    let patched = Patched {
        drop_in: drop_in.to_owned(),
        lock_file: folder.join("Cargo.lock"),
        option: cargo.lockfile_option()?,
        is_in_manifest: is_in_manifest(&project.root_manifest(), drop_in)?,
        is_unused: false,
        chooses_the_lowest: false,
        switched_off: hindrances::ignored_switches(cargo, project)?,
    };
    if arguments.locked {
        check_users_lock(cargo, project)?;
    }
    let one_at_a_time = File::create(folder.join(".lock"))?;
    one_at_a_time.lock()?;
    let stamp = Stamp::now(project, drop_in)?;
    let old = Stamp::read(&folder);
    if old.as_ref() != Some(&stamp) || !patched.lock_file.exists() {
        let is_base_current = old.is_some_and(|old| old.users == stamp.users) && patched.lock_file.exists();
        let base = if is_base_current { patched.lock_file.clone() } else { project.lock_file() };
        // In gmp's own lock file, a package that is too old for a changed manifest can't be told
        // from one that is as the user locked it.
        let from_users = |error| match is_base_current {
            true => draft::make(cargo, project, &patched, &project.lock_file()),
            false => Err(error),
        };
        match draft::make(cargo, project, &patched, &base).or_else(from_users)? {
            Versions::AsLocked => stamp.write(&folder)?,
            // Without a stamp, the next run makes the file again. It may have the network then.
            Versions::AtHand => Stamp::remove(&folder)?,
        }
    }
    let is_unused = without_patch(&patched.lock_file)?;
    Ok(Patched { is_unused, ..patched })
}

/// Whether no package of the lock file depends on tokio. Removes the patch from such a file: with
/// `--locked`, cargo refuses a file that names a patch which cargo is not given.
fn without_patch(lock_file: &Path) -> Result<bool> {
    let text = fs::read_to_string(lock_file)?;
    let is_unused = Tokios::read(&text)?.is_empty();
    if is_unused {
        let mut lock: DocumentMut = text.parse()?;
        tokios::remove_unused(&mut lock);
        if lock.to_string() != text {
            fs::write(lock_file, lock.to_string())?;
        }
    }
    Ok(is_unused)
}

/// The folder for this workspace's lock file. Several workspaces may share one target directory.
fn make_folder(project: &Project) -> Result<PathBuf> {
    project.make_target_directory()?;
    let folder = project.gmp_directory().join("lock").join(project.key());
    fs::create_dir_all(&folder).with_context(|| format!("can't make {}", folder.display()))?;
    Ok(folder)
}

/// `--locked` also promises that the user's lock file is current, not only gmp's own.
fn check_users_lock(cargo: &Cargo, project: &Project) -> Result<()> {
    let mut arguments: Vec<OsString> = ["update", "--workspace", "--locked", "--manifest-path"].map(Into::into).into();
    arguments.push(project.root_manifest().into());
    arguments.extend(project.configuration.iter().cloned());
    cargo.run_offline_first(&arguments).context("--locked: Cargo.lock is missing or out of date")?;
    Ok(())
}

/// Whether the root manifest patches tokio to the drop-in.
fn is_in_manifest(root: &Path, drop_in: &Path) -> Result<bool> {
    let manifest: DocumentMut = fs::read_to_string(root)?.parse()?;
    match crate::patch::current(&manifest) {
        None => Ok(false),
        Some(path) if is_same(&root.with_file_name(&path), drop_in) => Ok(true),
        Some(other) => bail!(
            "{} patches tokio to {other}; `cargo gmp` needs that place (`cargo gmp unpatch` frees it if it is gmp's)",
            root.display()
        ),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Those of the drop-in and of what it uses.
const MANIFESTS: [&str; 5] = [
    "Cargo.toml",
    "io/Cargo.toml",
    "tokio-real/Cargo.toml",
    "../gmp-exec/Cargo.toml",
    "../gmp-exec/insight/Cargo.toml",
];

/// The digests of the files that a lock file was made from.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    /// The digest of the user's lock file.
    users: String,
    /// The manifests and the drop-in.
    rest: String,
}

impl Stamp {
    const FILE: &str = "made-from";

    fn now(project: &Project, drop_in: &Path) -> Result<Self> {
        let users = fs::read(project.lock_file()).unwrap_or_default();
        let mut rest = Sha256::new();
        project.add_to(&mut rest)?;
        rest.update(drop_in.as_os_str().as_encoded_bytes());
        for manifest in MANIFESTS {
            rest.update(fs::read(drop_in.join(manifest)).with_context(|| format!("the drop-in has no {manifest}"))?);
        }
        Ok(Stamp { users: digest::of(users), rest: digest::hex(&rest.finalize()) })
    }

    fn read(folder: &Path) -> Option<Self> {
        let text = fs::read_to_string(folder.join(Self::FILE)).ok()?;
        let (users, rest) = text.split_once('\n')?;
        Some(Stamp { users: users.to_owned(), rest: rest.to_owned() })
    }

    fn remove(folder: &Path) -> Result<()> {
        match fs::remove_file(folder.join(Self::FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn write(&self, folder: &Path) -> Result<()> {
        fs::write(folder.join(Self::FILE), format!("{}\n{}", self.users, self.rest))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(option: LockfileOption, is_in_manifest: bool) -> Patched {
        Patched {
            drop_in: "/a \"b\"".into(),
            lock_file: "/t/Cargo.lock".into(),
            option,
            is_in_manifest,
            is_unused: false,
            chooses_the_lowest: false,
            switched_off: Vec::new(),
        }
    }

    #[test]
    fn a_cargo_that_knows_the_option_needs_no_unlocking() {
        let patched = patched(LockfileOption::Stable, false);
        let expected = [
            "--config",
            "resolver.lockfile-path=\"/t/Cargo.lock\"",
            "--config",
            "profile.dev.package.gmp-exec.opt-level=1",
            "--config",
            "patch.crates-io.tokio.path='/a \"b\"'",
        ];
        assert_eq!(patched.arguments().unwrap(), expected);
        assert_eq!(patched.environment(), None);
    }

    #[test]
    fn an_older_cargo_gets_the_flag_and_what_makes_it_take_the_flag() {
        let patched = patched(LockfileOption::Unstable, true);
        let arguments = patched.arguments().unwrap();
        assert_eq!(arguments[4..], ["-Z", "lockfile-path", "--config", "unstable.lockfile-path=true"]);
        assert_eq!(patched.environment(), Some(UNLOCK));
    }
}
