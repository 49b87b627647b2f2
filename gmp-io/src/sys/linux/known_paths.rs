//! Paths that led to a regular file on a local file system a moment ago.
//!
//! What a path leads to has to be found out before it is opened, because opening has side effects
//! and may wait for a server. But that takes nearly as long as opening and reading a small file,
//! and a file that is read by its path is often read again soon. So a thread remembers for a short
//! time which paths it has looked at.
//!
//! That a path is known only allows opening it at once. All else is asked of the file that was
//! opened: the path may lead to another one by now.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::time::{Duration, Instant};

/// After this time a path is looked at again. Short, because meanwhile a path that was redirected
/// to a server or a device is opened by the thread that asks, once. Reading a file a hundred times
/// a second already saves nine of ten looks.
const KNOWN_FOR: Duration = Duration::from_millis(100);

/// The most paths that a thread remembers.
const MOST: usize = 64;

thread_local! {
    static PATHS: RefCell<KnownPaths> = RefCell::default();
}

/// Whether this thread has looked at `path` a moment before `now`.
pub(super) fn contains(path: &Path, now: Instant) -> bool {
    with_paths(|paths| paths.contains(path.as_os_str(), now)).unwrap_or(false)
}

/// Remembers that `path` led to a regular file on a local file system at `now`.
pub(super) fn insert(path: &Path, now: Instant) {
    with_paths(|paths| paths.insert(path.as_os_str(), now));
}

pub(super) fn forget(path: &Path) {
    with_paths(|paths| paths.looked_at.remove(path.as_os_str()));
}

/// `None` if the thread is ending and its paths are gone.
fn with_paths<T>(f: impl FnOnce(&mut KnownPaths) -> T) -> Option<T> {
    PATHS.try_with(|paths| f(&mut paths.borrow_mut())).ok()
}

/// Paths by their bytes: two spellings of a path are two entries.
#[derive(Default)]
struct KnownPaths {
    looked_at: HashMap<OsString, Instant>,
}

impl KnownPaths {
    fn contains(&self, path: &OsStr, now: Instant) -> bool {
        self.looked_at.get(path).is_some_and(|looked_at| now.saturating_duration_since(*looked_at) < KNOWN_FOR)
    }

    /// Dropping all paths of a full table costs each of them a look, and needs no order among them.
    fn insert(&mut self, path: &OsStr, now: Instant) {
        if self.looked_at.len() >= MOST {
            self.looked_at.clear();
        }
        self.looked_at.insert(path.to_owned(), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_known_for_a_moment() {
        let now = Instant::now();
        let mut paths = KnownPaths::default();
        assert!(!paths.contains("a".as_ref(), now));
        paths.insert("a".as_ref(), now);
        assert!(paths.contains("a".as_ref(), now + KNOWN_FOR / 2));
        assert!(!paths.contains("./a".as_ref(), now), "another spelling may have another meaning");
        assert!(!paths.contains("a".as_ref(), now + KNOWN_FOR));
        paths.insert("a".as_ref(), now + KNOWN_FOR);
        assert!(paths.contains("a".as_ref(), now + KNOWN_FOR), "it was looked at again");
    }

    #[test]
    fn only_the_last_paths_are_kept() {
        let now = Instant::now();
        let mut paths = KnownPaths::default();
        for n in 0..3 * MOST {
            let path = OsString::from(n.to_string());
            paths.insert(&path, now);
            assert!(paths.contains(&path, now));
            assert!(paths.looked_at.len() <= MOST);
        }
    }

    #[test]
    fn a_path_can_be_forgotten() {
        let (path, now) = (Path::new("forgotten"), Instant::now());
        insert(path, now);
        assert!(contains(path, now));
        forget(path);
        assert!(!contains(path, now));
    }
}
