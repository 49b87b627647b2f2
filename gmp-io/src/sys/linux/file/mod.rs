//! Questions about files that are answered from memory.
//!
//! If asked to, the kernel answers from its caches or not at all: `openat2` with `RESOLVE_CACHED`
//! resolves a path through cached names only, `preadv2` with `RWF_NOWAIT` copies cached pages only.
//! Two cases are not covered:
//!
//! - Opening has side effects. The other end of a FIFO wakes up, a tape rewinds, and `O_NONBLOCK`
//!   does not help. So a path is resolved first, with `O_PATH`, which opens nothing, and only a
//!   regular file is opened. Opening first and checking second is not done for paths of which
//!   nothing is known; it was rejected.
//! - Even with a cached name, opening a file or asking for its size may need a server. So that is
//!   only done on file systems known to be local: see `file_systems`.
//!
//! A file that was opened is checked once more: see `opened`.
//!
//! Whether the kernel supports this is asked once. Kernels without `RESOLVE_CACHED` (before 5.12)
//! are not trusted with `RWF_NOWAIT` either: in 5.9 and 5.10 it reports an end of the file where
//! there is none.

mod opened;
#[cfg(test)]
mod tests;

use std::fs::{File, Metadata};
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, makedev, openat2, statx};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

pub(crate) use self::opened::{Opened, open, open_whole};
pub(crate) use super::file_systems::Unidentified;
use super::file_systems::{Device, Locality};
use crate::sys::{Cached, Identity, NotCached};

pub(crate) fn metadata(path: &Path) -> Cached<Metadata> {
    resolve(path, OFlags::empty(), Instant::now()).map(|resolved| resolved.and_then(Resolved::metadata))
}

pub(crate) fn symlink_metadata(path: &Path) -> Cached<Metadata> {
    resolve(path, OFlags::NOFOLLOW, Instant::now()).map(|resolved| resolved.and_then(Resolved::metadata))
}

pub(crate) fn exists(path: &Path) -> Cached<bool> {
    resolve(path, OFlags::empty(), Instant::now()).map(|resolved| match resolved {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        resolved => resolved.map(|_| true),
    })
}

/// The metadata of an open file.
pub(crate) fn metadata_of(file: &File) -> Cached<Metadata> {
    let Ok(facts) = Facts::of(file) else { return Err(NotCached(None)) };
    match facts.device.locality(Instant::now()) {
        Locality::Local { .. } => Ok(file.metadata()),
        Locality::Remote => Err(NotCached(None)),
        Locality::Unknown => Err(NotCached(file.try_clone().ok().map(|file| facts.device.unidentified(file.into())))),
    }
}

/// The regular file that a path leads to.
pub(crate) fn identity(path: &Path) -> Cached<Option<Identity>> {
    resolve(path, OFlags::empty(), Instant::now()).map(|resolved| resolved.map(|resolved| resolved.facts.identity()))
}

/// The regular file that an open file is.
pub(crate) fn identity_of(file: &File) -> Option<Identity> {
    Facts::of(file).ok().and_then(|facts| facts.identity())
}

/// Reads cached data at the file's cursor.
///
/// # Errors
///
/// - `Unsupported`: this kind of file can never be read like this.
/// - `WouldBlock`: not now. The data has to be fetched first, or there is an error that only a read
///   that may block reports.
pub(crate) fn read(file: impl AsFd, buf: &mut [u8]) -> io::Result<usize> {
    if !kernel_supports_cached() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    /// Means the cursor, which then advances.
    const AT_CURSOR: u64 = u64::MAX;
    preadv2(file, &mut [IoSliceMut::new(buf)], AT_CURSOR, ReadWriteFlags::NOWAIT).map_err(|error| {
        match error {
            Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::WouldBlock,
        }
        .into()
    })
}

/// A path that was resolved to a file on a local file system. The file has not been opened.
struct Resolved {
    descriptor: OwnedFd,
    facts: Facts,
}

impl Resolved {
    fn metadata(self) -> io::Result<Metadata> {
        File::from(self.descriptor).metadata()
    }
}

/// `AT_STATX_DONT_SYNC` of Linux's `fcntl.h`. With its feature `use-libc`, which any crate may enable,
/// rustix does not have the flag for musl.
const DONT_SYNC: AtFlags = AtFlags::from_bits_retain(0x4000);

/// The facts about a file that the kernel knows by itself.
struct Facts {
    kind: FileType,
    size: u64,
    device: Device,
    number: Identity,
}

impl Facts {
    fn of(file: impl AsFd) -> io::Result<Facts> {
        let flags = AtFlags::EMPTY_PATH | DONT_SYNC;
        let found = statx(file, "", flags, StatxFlags::TYPE | StatxFlags::SIZE | StatxFlags::INO)?;
        Ok(Facts {
            kind: FileType::from_raw_mode(found.stx_mode.into()),
            size: found.stx_size,
            device: Device::new(found.stx_dev_major, found.stx_dev_minor),
            number: Identity { device: makedev(found.stx_dev_major, found.stx_dev_minor), inode: found.stx_ino },
        })
    }

    fn is_regular(&self) -> bool {
        self.kind == FileType::RegularFile
    }

    fn identity(&self) -> Option<Identity> {
        self.is_regular().then_some(self.number)
    }
}

fn resolve(path: &Path, flags: OFlags, now: Instant) -> Cached<Resolved> {
    if !kernel_supports_cached() {
        return Err(NotCached(None));
    }
    let descriptor = match open_cached(path, OFlags::PATH | flags) {
        Ok(descriptor) => descriptor,
        Err(error) if is_about_the_path(error) => return Ok(Err(error.into())),
        Err(_) => return Err(NotCached(None)),
    };
    let Ok(facts) = Facts::of(&descriptor) else { return Err(NotCached(None)) };
    match facts.device.locality(now) {
        Locality::Local { .. } => Ok(Ok(Resolved { descriptor, facts })),
        Locality::Remote => Err(NotCached(None)),
        Locality::Unknown => Err(NotCached(Some(facts.device.unidentified(descriptor)))),
    }
}

fn open_cached(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED)
}

/// Errors that any way of resolving the path returns. Other errors may come from this way: it needs
/// a descriptor, for example, and `stat` does not.
fn is_about_the_path(error: Errno) -> bool {
    [Errno::NOENT, Errno::NOTDIR, Errno::ACCESS, Errno::LOOP, Errno::NAMETOOLONG].contains(&error)
}

/// The root directory is always cached, so an error means that the kernel, or a sandbox, lacks
/// support.
fn kernel_supports_cached() -> bool {
    static SUPPORTED: OnceLock<bool> = OnceLock::new();
    *SUPPORTED.get_or_init(|| matches!(open_cached(Path::new("/"), OFlags::PATH), Ok(_) | Err(Errno::AGAIN)))
}
