//! The folder for a build of which only the installed program is kept.
//!
//! The folder has to be removed even if Ctrl-C or a full disk ends the command before it can do so.
//! So all processes use the same folder, and each empties the folder before it builds. A folder
//! with a random name, such as a temporary one, would be left over after such an end. The price:
//! two installations at the same time wait for each other.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folder, and the lock that allows a build in it. Dropping this removes the folder.
#[derive(Debug)]
pub(super) struct Building {
    folder: PathBuf,
    /// Released last. If the process is killed, the system releases it.
    _lock: File,
}

impl Building {
    /// Waits for the lock, and removes the folder that an earlier process may have left behind.
    pub(super) fn start(cache: &Path) -> Result<Self> {
        fs::create_dir_all(cache).with_context(|| format!("can't make {}", cache.display()))?;
        let path = cache.join(".building.lock");
        let lock = File::create(&path).with_context(|| format!("can't write {}", path.display()))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                eprintln!("note: another `cargo gmp install` is building; this one waits for its end");
                lock.lock()?;
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("can't lock {}", path.display()))?,
        }
        let folder = cache.join("building");
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("can't remove {}", folder.display()))?;
        }
        Ok(Building { folder, _lock: lock })
    }

    /// The folder's path. Cargo makes the folder.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        // If the folder can't be removed, the next start reports that.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(building: &Building) {
        fs::create_dir_all(building.folder().join("debug")).unwrap();
        fs::write(building.folder().join("debug/server"), "program").unwrap();
    }

    #[test]
    fn what_was_built_goes_away_afterwards() {
        let cache = tempfile::tempdir().unwrap();
        let building = Building::start(cache.path()).unwrap();
        build(&building);
        let folder = building.folder().to_owned();
        drop(building);
        assert!(!folder.exists());
    }

    #[test]
    fn what_a_killed_one_left_goes_away_at_the_next_start() {
        let cache = tempfile::tempdir().unwrap();
        let killed = Building::start(cache.path()).unwrap();
        build(&killed);
        // The system closes a killed process's files and does nothing else.
        let Building { folder, _lock: lock } = &*std::mem::ManuallyDrop::new(killed);
        lock.unlock().unwrap();
        assert!(folder.exists());
        let next = Building::start(cache.path()).unwrap();
        assert_eq!(next.folder(), folder);
        assert!(!folder.exists());
    }

    #[test]
    fn one_builds_at_a_time() {
        let cache = tempfile::tempdir().unwrap();
        let is_free = || File::open(cache.path().join(".building.lock")).unwrap().try_lock().is_ok();
        let first = Building::start(cache.path()).unwrap();
        assert!(!is_free());
        drop(first);
        assert!(is_free());
    }
}
