//! Which file systems answer from memory without talking to anybody.
//!
//! Opening a file, or asking for its size, is a round trip on a network file system and a request to another process on a
//! FUSE one, cached name or not. The kernel can't be asked whether it would be; only the kind of the file system tells. So
//! there is a list of kinds that are known to be local, and all others are left to threads that may block. Layered file
//! systems (overlayfs) are not on it, because their lower layers may be anything.
//!
//! Asking for the kind can block for the same reasons, so the first one to meet a device does it on such a thread and
//! introduces the device to the others. The table is a hint: a slot that is overwritten, or a number that the kernel gives
//! to another file system later, costs a thread switch or an open that takes longer.

use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use rustix::fs::fstatfs;

/// A mounted file system, by its number.
#[derive(Clone, Copy)]
pub(super) struct Device(u64);

/// What is known about a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    NeverSeen,
    /// It may have to ask somebody.
    Distant,
    /// It answers from memory.
    Local {
        /// It can also read from memory; assumed until a read says otherwise.
        reads: bool,
    },
}

/// A file system that nothing is known about yet.
pub(crate) struct Stranger {
    descriptor: OwnedFd,
    device: Device,
}

impl Stranger {
    /// Finds out what kind of file system it is. May block.
    pub(crate) fn introduce(self) {
        let Ok(found) = fstatfs(&self.descriptor) else { return };
        // The field's type depends on the architecture; the numbers have 32 bits.
        let is_local = LOCAL_KINDS.contains(&(found.f_type as u32));
        self.device.remember(if is_local { Standing::Local { reads: true } } else { Standing::Distant });
    }
}

/// From the kernel's `magic.h`, and `exfat`, `f2fs`, `xfs` and `zfs`, which define theirs elsewhere.
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

/// More than most machines have mounted. An entry is a device's number and its standing in one word, so it is read and
/// written whole.
static STANDINGS: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];

const STANDING_BITS: u32 = 2;

impl Device {
    pub(super) fn new(major: u32, minor: u32) -> Device {
        // The kernel's own numbers have 12 and 20 bits.
        Device(u64::from(major) << 20 | u64::from(minor))
    }

    pub(super) fn stranger(self, descriptor: OwnedFd) -> Stranger {
        Stranger { descriptor, device: self }
    }

    pub(super) fn standing(self) -> Standing {
        let entry = self.slot().load(Relaxed);
        if entry >> STANDING_BITS != self.0 {
            return Standing::NeverSeen;
        }
        match entry & ((1 << STANDING_BITS) - 1) {
            1 => Standing::Distant,
            2 => Standing::Local { reads: false },
            3 => Standing::Local { reads: true },
            _ => Standing::NeverSeen,
        }
    }

    pub(super) fn remember(self, standing: Standing) {
        let code = match standing {
            Standing::NeverSeen => 0,
            Standing::Distant => 1,
            Standing::Local { reads: false } => 2,
            Standing::Local { reads: true } => 3,
        };
        self.slot().store(self.0 << STANDING_BITS | code, Relaxed);
    }

    /// Both parts of the number vary: disks differ in the major one, too, while all others have 0 there.
    fn slot(self) -> &'static AtomicU64 {
        let mixed = self.0 ^ self.0 >> 20;
        &STANDINGS[mixed as usize % STANDINGS.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_keep_their_standing() {
        // Numbers that no device has.
        let (one, other) = (Device::new(0xfff, 0x1234), Device::new(0xffe, 0x1234));
        assert_eq!(one.standing(), Standing::NeverSeen);
        for standing in [Standing::Distant, Standing::Local { reads: false }, Standing::Local { reads: true }] {
            one.remember(standing);
            assert_eq!(one.standing(), standing);
            assert_eq!(other.standing(), Standing::NeverSeen);
        }
    }

    #[test]
    fn of_two_devices_in_a_slot_the_later_one_is_known() {
        let one = Device::new(0, 0xf_f000);
        let other = Device::new(0, 0xf_f000 + STANDINGS.len() as u32);
        one.remember(Standing::Distant);
        other.remember(Standing::Local { reads: true });
        assert_eq!(one.standing(), Standing::NeverSeen);
        assert_eq!(other.standing(), Standing::Local { reads: true });
    }
}
