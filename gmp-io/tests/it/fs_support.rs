//! Helpers for the tests of `fs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use gmp_exec::runtime::{Builder, Runtime};
use tempfile::TempDir;

pub(crate) fn temp_dir() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

/// A file of `len` bytes, each of which depends on its position.
pub(crate) fn patterned(dir: &Path, len: usize) -> (PathBuf, Vec<u8>) {
    let contents: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
    let path = dir.join("patterned");
    std::fs::write(&path, &contents).expect("written");
    (path, contents)
}

/// Leaves only the first half of a file in memory, where the file system has a disk.
pub(crate) fn forget_half(path: &Path) {
    use std::io::Read;

    use rustix::fs::{Advice, fadvise};
    let mut file = std::fs::File::open(path).expect("opened");
    file.sync_all().expect("on the disk");
    // All of the file: the kernel may hold both halves in one piece, of which it forgets no part.
    fadvise(&file, 0, None, Advice::DontNeed).expect("forgotten");
    // Otherwise the kernel reads ahead.
    fadvise(&file, 0, None, Advice::Random).expect("read as told");
    let half = file.metadata().expect("there").len() / 2;
    file.read_exact(&mut vec![0; half as usize]).expect("read");
}

pub(crate) fn fifo(dir: &Path) -> PathBuf {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let path = dir.join("fifo");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a FIFO");
    path
}

/// A current-thread runtime that counts the threads it starts. All of them run background closures,
/// so none is started as long as all work is done on the thread inside `block_on`.
pub(crate) fn counting_threads() -> (Runtime, impl Fn() -> usize) {
    let started = Arc::new(AtomicUsize::new(0));
    let counter = started.clone();
    let count = move || {
        counter.fetch_add(1, SeqCst);
    };
    let runtime = Builder::new_current_thread().enable_all().on_thread_start(count).build().expect("a runtime");
    (runtime, move || started.load(SeqCst))
}

/// Whether the system opens and reads the file at `path`, whose contents are cached, without
/// blocking.
pub(crate) fn reads_in_place(path: &Path) -> bool {
    #[cfg(all(any(target_os = "linux", target_os = "android"), not(gmp_portable)))]
    {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::{Errno, ReadWriteFlags, preadv2};
        let file = std::fs::File::open(path).expect("opened");
        let mut buf = [0; 1];
        let mut bufs = [std::io::IoSliceMut::new(&mut buf)];
        let opened = openat2(CWD, path, OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED);
        matches!(opened, Ok(_) | Err(Errno::AGAIN)) && preadv2(&file, &mut bufs, 0, ReadWriteFlags::NOWAIT).is_ok()
    }
    #[cfg(not(all(any(target_os = "linux", target_os = "android"), not(gmp_portable))))]
    {
        let _ = path;
        false
    }
}
