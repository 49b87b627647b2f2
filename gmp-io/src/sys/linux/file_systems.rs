//! The file systems that answer from memory without asking another machine or process.
//!
//! Opening a file, or asking for its size, is a round trip on a network file system and a request
//! to another process with FUSE, even if the name is cached. The kernel can't be asked whether it
//! would be; only the kind of the file system tells. So there is a list of kinds that are known to
//! be local, and all others are left to threads that may block. Layered file systems (overlayfs)
//! are not listed, because their lower layers may be of any kind.
//!
//! Asking for the kind can block for the same reasons. So the first task that uses a device has
//! such a thread identify it, and the result is stored for all, for a second: the kernel gives the
//! number of a file system that was unmounted to the next one, which may be of any kind. The table
//! is a hint: if an entry is overwritten, the cost is a thread switch, and if another file system
//! got the number within that second, opens that take longer.

use std::os::fd::OwnedFd;
use std::sync::LazyLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use rustix::fs::fstatfs;

/// The number of a mounted file system.
#[derive(Clone, Copy)]
pub(super) struct Device(u32);

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
        // The descriptor keeps the file system mounted, so the number still means this one.
        let locality = if is_local { Locality::Local { reads: true } } else { Locality::Remote };
        self.device.remember(locality, Instant::now());
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

/// More than most machines have mounted.
static ENTRIES: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

/// A device number, when its locality was found out, and the locality. In one word, so that it is
/// read and written whole.
#[derive(Clone, Copy)]
struct Entry(u64);

/// Whole seconds since the first use of the table, so an entry holds for one second to two.
#[derive(Clone, Copy)]
struct Second(u64);

const KNOWN_FOR_SECONDS: u64 = 1;

impl Second {
    /// The seconds of 34 years fit into an entry.
    const BITS: u32 = 30;

    fn of(moment: Instant) -> Second {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        Second(moment.saturating_duration_since(*START).as_secs() % (1 << Second::BITS))
    }
}

impl Entry {
    const LOCALITY_BITS: u32 = 2;

    fn new(device: Device, second: Second, locality: Locality) -> Entry {
        let code = match locality {
            Locality::Unknown => 0,
            Locality::Remote => 1,
            Locality::Local { reads: false } => 2,
            Locality::Local { reads: true } => 3,
        };
        Entry((u64::from(device.0) << Second::BITS | second.0) << Entry::LOCALITY_BITS | code)
    }

    fn second(self) -> Second {
        Second(self.0 >> Entry::LOCALITY_BITS & ((1 << Second::BITS) - 1))
    }

    fn is_of(self, device: Device) -> bool {
        self.0 >> (Second::BITS + Entry::LOCALITY_BITS) == device.0.into()
    }

    fn locality(self) -> Locality {
        match self.0 & ((1 << Entry::LOCALITY_BITS) - 1) {
            1 => Locality::Remote,
            2 => Locality::Local { reads: false },
            3 => Locality::Local { reads: true },
            _ => Locality::Unknown,
        }
    }
}

impl Device {
    pub(super) fn new(major: u32, minor: u32) -> Device {
        // The kernel's own numbers have 12 and 20 bits.
        Device(major << 20 | minor)
    }

    pub(super) fn unidentified(self, descriptor: OwnedFd) -> Unidentified {
        Unidentified { descriptor, device: self }
    }

    pub(super) fn locality(self, now: Instant) -> Locality {
        let entry = Entry(self.slot().load(Relaxed));
        let age = Second::of(now).0.saturating_sub(entry.second().0);
        if entry.is_of(self) && age <= KNOWN_FOR_SECONDS { entry.locality() } else { Locality::Unknown }
    }

    fn remember(self, locality: Locality, now: Instant) {
        self.slot().store(Entry::new(self, Second::of(now), locality).0, Relaxed);
    }

    /// Remembers that cached data can't be read from this file system without blocking. That says
    /// nothing about whether it is local, so an entry that doesn't say that it is stays as it is.
    pub(super) fn has_no_reads(self) {
        let entry = Entry(self.slot().load(Relaxed));
        if entry.is_of(self) && entry.locality() == (Locality::Local { reads: true }) {
            let changed = Entry::new(self, entry.second(), Locality::Local { reads: false });
            // Another entry that was stored meanwhile is newer.
            let _ = self.slot().compare_exchange(entry.0, changed.0, Relaxed, Relaxed);
        }
    }

    /// Both parts of the number vary: disks differ in the major number too, while all others have 0
    /// there.
    fn slot(self) -> &'static AtomicU64 {
        let mixed = self.0 ^ self.0 >> 20;
        &ENTRIES[mixed as usize % ENTRIES.len()]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    // Each test has devices of its own, with numbers that no file system has.

    const LOCAL: Locality = Locality::Local { reads: true };
    const LOCAL_WITHOUT_READS: Locality = Locality::Local { reads: false };

    #[test]
    fn devices_keep_their_locality() {
        let now = Instant::now();
        let (one, other) = (Device::new(0xfff, 0x1234), Device::new(0xffe, 0x1234));
        assert_eq!(one.locality(now), Locality::Unknown);
        for locality in [Locality::Remote, LOCAL_WITHOUT_READS, LOCAL] {
            one.remember(locality, now);
            assert_eq!(one.locality(now), locality);
            assert_eq!(other.locality(now), Locality::Unknown);
        }
    }

    #[test]
    fn of_two_devices_in_an_entry_the_later_one_is_known() {
        let now = Instant::now();
        let one = Device::new(0, 0xf_f000);
        let other = Device::new(0, 0xf_f000 + ENTRIES.len() as u32);
        one.remember(Locality::Remote, now);
        other.remember(LOCAL, now);
        assert_eq!(one.locality(now), Locality::Unknown);
        assert_eq!(other.locality(now), LOCAL);
    }

    /// The kernel may have given the number to a network file system since.
    #[test]
    fn a_device_is_identified_again_after_a_moment() {
        let device = Device::new(0xfff, 0x4321);
        // After the seconds have begun.
        device.remember(LOCAL, Instant::now());
        let then = Instant::now();
        for locality in [Locality::Remote, LOCAL] {
            device.remember(locality, then);
            assert_eq!(device.locality(then + Duration::from_secs(1)), locality);
            assert_eq!(device.locality(then + Duration::from_secs(2)), Locality::Unknown);
        }
        device.has_no_reads();
        assert_eq!(device.locality(then + Duration::from_secs(2)), Locality::Unknown, "not renewed");
    }

    #[test]
    fn a_failed_read_makes_no_file_system_local() {
        let now = Instant::now();
        let device = Device::new(0xffd, 0x1234);
        device.has_no_reads();
        assert_eq!(device.locality(now), Locality::Unknown);
        device.remember(Locality::Remote, now);
        device.has_no_reads();
        assert_eq!(device.locality(now), Locality::Remote);
        device.remember(LOCAL, now);
        device.has_no_reads();
        assert_eq!(device.locality(now), LOCAL_WITHOUT_READS);
    }
}
