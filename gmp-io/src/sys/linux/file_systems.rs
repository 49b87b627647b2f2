//! The file systems that answer from memory without asking another machine or process.
//!
//! Opening a file, or asking for its size, is a round trip on a network file system and a request
//! to another process with FUSE, even if the name is cached. The kernel can't be asked whether it
//! would be; only the kind of the file system tells. So there is a list of kinds that are known to
//! be local, and all others are left to threads that may block. Layered file systems (overlayfs)
//! are not listed, because their lower layers may be of any kind.
//!
//! Asking for the kind can block for the same reasons. So the first task that uses a device has
//! such a thread identify it, and the result is stored for all. The table is a hint: if an entry is
//! overwritten, or the kernel gives a number to another file system later, the cost is a thread
//! switch or an open that takes longer.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rustix::fs::fstatfs;

/// The number of a mounted file system.
#[derive(Clone, Copy)]
pub(super) struct Device(u64);

/// Where a file system finds its answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Locality {
    Unknown,
    /// It may have to ask another machine or process.
    Remote,
    /// It answers from memory.
    Local {
        /// Whether cached data can be read without blocking. Assumed until a read says otherwise.
        reads: bool,
    },
}

/// A file system whose kind is not known yet.
pub(crate) struct Unidentified {
    descriptor: OwnedFd,
    device: Device,
}

impl Unidentified {
    /// Finds out the kind of the file system and stores it. May block.
    pub(crate) fn identify(self) {
        let Ok(found) = fstatfs(&self.descriptor) else { return };
        // The field's type depends on the architecture; the values have 32 bits.
        let is_local = LOCAL_KINDS.contains(&(found.f_type as u32));
        self.device.remember(if is_local { Locality::Local { reads: true } } else { Locality::Remote });
    }
}

/// From the kernel's `magic.h`. `exfat`, `f2fs`, `xfs` and `zfs` define theirs elsewhere.
const LOCAL_KINDS: [u32; 11] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0xf2f5_2010, // f2fs
    0x2fc1_2fc1, // zfs
    0xca45_1a4e, // bcachefs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x7371_7368, // squashfs
    0xe0f5_e1e2, // erofs
    0x2011_bab0, // exfat
];

/// More than most machines have mounted. An entry is a device number and its locality in one word,
/// so it is read and written whole.
static LOCALITIES: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

const LOCALITY_BITS: u32 = 2;

impl Device {
    pub(super) fn new(major: u32, minor: u32) -> Device {
        // The kernel's own numbers have 12 and 20 bits.
        Device(u64::from(major) << 20 | u64::from(minor))
    }

    pub(super) fn unidentified(self, descriptor: OwnedFd) -> Unidentified {
        Unidentified { descriptor, device: self }
    }

    pub(super) fn locality(self) -> Locality {
        let entry = self.slot().load(Relaxed);
        if entry >> LOCALITY_BITS != self.0 {
            return Locality::Unknown;
        }
        match entry & ((1 << LOCALITY_BITS) - 1) {
            1 => Locality::Remote,
            2 => Locality::Local { reads: false },
            3 => Locality::Local { reads: true },
            _ => Locality::Unknown,
        }
    }

    pub(super) fn remember(self, locality: Locality) {
        let code = match locality {
            Locality::Unknown => 0,
            Locality::Remote => 1,
            Locality::Local { reads: false } => 2,
            Locality::Local { reads: true } => 3,
        };
        self.slot().store(self.0 << LOCALITY_BITS | code, Relaxed);
    }

    /// Both parts of the number vary: disks differ in the major number too, while all others have 0
    /// there.
    fn slot(self) -> &'static AtomicU64 {
        let mixed = self.0 ^ self.0 >> 20;
        &LOCALITIES[mixed as usize % LOCALITIES.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_keep_their_locality() {
        // Numbers that no device has.
        let (one, other) = (Device::new(0xfff, 0x1234), Device::new(0xffe, 0x1234));
        assert_eq!(one.locality(), Locality::Unknown);
        for locality in [Locality::Remote, Locality::Local { reads: false }, Locality::Local { reads: true }] {
            one.remember(locality);
            assert_eq!(one.locality(), locality);
            assert_eq!(other.locality(), Locality::Unknown);
        }
    }

    #[test]
    fn of_two_devices_in_an_entry_the_later_one_is_known() {
        let one = Device::new(0, 0xf_f000);
        let other = Device::new(0, 0xf_f000 + LOCALITIES.len() as u32);
        one.remember(Locality::Remote);
        other.remember(Locality::Local { reads: true });
        assert_eq!(one.locality(), Locality::Unknown);
        assert_eq!(other.locality(), Locality::Local { reads: true });
    }
}
