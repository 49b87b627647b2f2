//! A directory that stands for `/` in tests, with the files that they need.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::{env, fs, process};

/// Removed when it is dropped.
pub(crate) struct FakeRoot(PathBuf);

impl FakeRoot {
    pub(crate) fn new() -> FakeRoot {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("gmp-root-{}-{}", process::id(), NEXT.fetch_add(1, Relaxed));
        let root = env::temp_dir().join(name);
        fs::create_dir_all(&root).unwrap();
        FakeRoot(root)
    }

    pub(crate) fn file(self, path: &str, text: impl AsRef<[u8]>) -> FakeRoot {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for FakeRoot {
    fn drop(&mut self) {
        // A test that has failed is not to abort here.
        let _ = fs::remove_dir_all(&self.0);
    }
}
