//! Files, as far as they are in memory.
//!
//! The kernel answers from its caches or not at all if asked so: `openat2` with `RESOLVE_CACHED` resolves a path through
//! cached names only, `preadv2` with `RWF_NOWAIT` copies cached pages only. Two things they don't cover:
//!
//! - Opening has effects of its own. A FIFO's other end wakes up, a tape rewinds, and `O_NONBLOCK` does not help. So a path
//!   is looked at first, with `O_PATH`, which opens nothing, and only what turns out to be a regular file is opened. Opening
//!   blindly and having a look at what it was would save a third of the time; it was rejected.
//! - Even a resolved name may take a conversation with a server to open, or to ask for its size. So that is done only on
//!   file systems known to be local: see `file_systems`.
//!
//! Whether the kernel can do this at all is asked once. Kernels without `RESOLVE_CACHED` (before 5.12) are not trusted with
//! `RWF_NOWAIT` either: in 5.9 and 5.10 it reports an end of the file where there is none.

use std::fs::{File, Metadata};
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, fcntl_setfl, makedev, openat2, statx,
};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

pub(crate) use super::file_systems::Stranger;
use super::file_systems::{Device, Standing};
use crate::sys::{Cached, Identity, Unknown};

/// A regular file that was opened for reading.
pub(crate) struct Opened {
    file: OwnedFd,
    facts: Facts,
}

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> Cached<Opened> {
    look(path, OFlags::empty()).and_then(|seen| match seen {
        Ok(seen) if seen.facts.is_regular => reopen(path),
        Ok(_) => Err(Unknown(None)),
        Err(error) => Ok(Err(error)),
    })
}

pub(crate) fn metadata(path: &Path) -> Cached<Metadata> {
    look(path, OFlags::empty()).map(|seen| seen.and_then(Seen::metadata))
}

pub(crate) fn symlink_metadata(path: &Path) -> Cached<Metadata> {
    look(path, OFlags::NOFOLLOW).map(|seen| seen.and_then(Seen::metadata))
}

pub(crate) fn exists(path: &Path) -> Cached<bool> {
    look(path, OFlags::empty()).map(|seen| match seen {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        seen => seen.map(|_| true),
    })
}

/// The metadata of an open file.
pub(crate) fn metadata_of(file: &File) -> Cached<Metadata> {
    let Ok(facts) = Facts::of(file) else { return Err(Unknown(None)) };
    match facts.device.standing() {
        Standing::Local { .. } => Ok(file.metadata()),
        Standing::Distant => Err(Unknown(None)),
        Standing::NeverSeen => Err(Unknown(file.try_clone().ok().map(|file| facts.device.stranger(file.into())))),
    }
}

/// Which regular file a path leads to.
pub(crate) fn identity(path: &Path) -> Cached<Option<Identity>> {
    look(path, OFlags::empty()).map(|seen| seen.map(|seen| seen.facts.identity()))
}

/// Which regular file an open file is.
pub(crate) fn identity_of(file: &File) -> Option<Identity> {
    Facts::of(file).ok().and_then(|facts| facts.identity())
}

/// Reads what is in memory at the file's cursor.
///
/// # Errors
///
/// - `Unsupported`: this kind of file can't be read so, ever.
/// - `WouldBlock`: not now. The data has to be fetched first, or the kernel has something to say that only a read that may
///   block reports.
pub(crate) fn read(file: impl AsFd, buf: &mut [u8]) -> io::Result<usize> {
    if !kernel_can() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    /// Stands for the cursor, which then advances.
    const AT_CURSOR: u64 = u64::MAX;
    preadv2(file, &mut [IoSliceMut::new(buf)], AT_CURSOR, ReadWriteFlags::NOWAIT).map_err(|error| {
        match error {
            Errno::OPNOTSUPP | Errno::NOSYS | Errno::PERM => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::WouldBlock,
        }
        .into()
    })
}

impl Opened {
    pub(crate) fn size(&self) -> u64 {
        self.facts.size
    }

    /// As [`read`]; and a file system that doesn't support it is not asked again.
    pub(crate) fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if self.facts.device.standing() == (Standing::Local { reads: false }) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        read(&self.file, buf).inspect_err(|error| {
            if error.kind() == io::ErrorKind::Unsupported {
                self.facts.device.remember(Standing::Local { reads: false });
            }
        })
    }

    /// The file as if it had been opened in the usual way.
    pub(crate) fn into_file(self) -> File {
        // Failing changes nothing: a regular file is read and written the same with `O_NONBLOCK`.
        let _ = fcntl_setfl(&self.file, OFlags::empty());
        File::from(self.file)
    }
}

/// A name that was resolved to something on a local file system; nothing has been opened.
struct Seen {
    place: OwnedFd,
    facts: Facts,
}

impl Seen {
    fn metadata(self) -> io::Result<Metadata> {
        File::from(self.place).metadata()
    }
}

/// What is known of a file without asking anybody but the kernel.
struct Facts {
    is_regular: bool,
    size: u64,
    device: Device,
    number: Identity,
}

impl Facts {
    fn of(file: impl AsFd) -> io::Result<Facts> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let found = statx(file, "", flags, StatxFlags::TYPE | StatxFlags::SIZE | StatxFlags::INO)?;
        Ok(Facts {
            is_regular: FileType::from_raw_mode(found.stx_mode.into()) == FileType::RegularFile,
            size: found.stx_size,
            device: Device::new(found.stx_dev_major, found.stx_dev_minor),
            number: Identity { device: makedev(found.stx_dev_major, found.stx_dev_minor), inode: found.stx_ino },
        })
    }

    fn identity(&self) -> Option<Identity> {
        self.is_regular.then_some(self.number)
    }
}

fn look(path: &Path, flags: OFlags) -> Cached<Seen> {
    if !kernel_can() {
        return Err(Unknown(None));
    }
    let place = match open_cached(path, OFlags::PATH | flags) {
        Ok(place) => place,
        Err(error) if is_about_the_path(error) => return Ok(Err(error.into())),
        Err(_) => return Err(Unknown(None)),
    };
    let Ok(facts) = Facts::of(&place) else { return Err(Unknown(None)) };
    match facts.device.standing() {
        Standing::Local { .. } => Ok(Ok(Seen { place, facts })),
        Standing::Distant => Err(Unknown(None)),
        Standing::NeverSeen => Err(Unknown(Some(facts.device.stranger(place)))),
    }
}

/// Opens what a moment ago was a regular file. Should it have become a FIFO meanwhile, `O_NONBLOCK` keeps this thread from
/// waiting for the other end, and the second look finds out.
fn reopen(path: &Path) -> Cached<Opened> {
    let Ok(file) = open_cached(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY) else {
        return Err(Unknown(None));
    };
    match Facts::of(&file) {
        Ok(facts) if facts.is_regular => Ok(Ok(Opened { file, facts })),
        _ => Err(Unknown(None)),
    }
}

fn open_cached(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), ResolveFlags::CACHED)
}

/// Errors that any way of resolving the path gives. Others may be about the way: a descriptor that `stat` would not need,
/// say.
fn is_about_the_path(error: Errno) -> bool {
    [Errno::NOENT, Errno::NOTDIR, Errno::ACCESS, Errno::LOOP, Errno::NAMETOOLONG].contains(&error)
}

/// The root directory is always in memory, so whatever goes wrong there is the kernel's inability, or a sandbox.
fn kernel_can() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| matches!(open_cached(Path::new("/"), OFlags::PATH), Ok(_) | Err(Errno::AGAIN)))
}
