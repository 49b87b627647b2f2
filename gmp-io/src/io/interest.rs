//! The events that a task waits for.

use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// The events to wait for: the directions in which an operation would make progress.
///
/// Values combine with `|`. There is no empty interest.
///
/// # Examples
///
/// ```
/// use gmp_io::io::Interest;
///
/// let both = Interest::READABLE | Interest::WRITABLE;
/// assert!(both.is_readable() && both.is_writable());
/// assert_eq!(both.remove(Interest::READABLE), Some(Interest::WRITABLE));
/// assert_eq!(Interest::READABLE.remove(Interest::READABLE), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Interest(u8);

const READABLE: u8 = 1 << 0;
const WRITABLE: u8 = 1 << 1;
const PRIORITY: u8 = 1 << 2;
const ERROR: u8 = 1 << 3;

impl Interest {
    /// Reading would make progress. Reaching the end of the stream counts as progress.
    pub const READABLE: Interest = Interest(READABLE);

    /// Writing would make progress. An error because the other side is closed counts as progress.
    pub const WRITABLE: Interest = Interest(WRITABLE);

    /// There is something exceptional to read, such as out-of-band data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Interest = Interest(PRIORITY);

    /// The descriptor is in an error state. As on tokio, an error alone does not make a descriptor
    /// readable: a wait for data that should also end with an error asks for `READABLE | ERROR`.
    pub const ERROR: Interest = Interest(ERROR);

    /// Whether reading is part of the interest.
    pub const fn is_readable(self) -> bool {
        self.0 & READABLE != 0
    }

    /// Whether writing is part of the interest.
    pub const fn is_writable(self) -> bool {
        self.0 & WRITABLE != 0
    }

    /// Whether exceptional data is part of the interest.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const fn is_priority(self) -> bool {
        self.0 & PRIORITY != 0
    }

    /// Whether errors are part of the interest.
    pub const fn is_error(self) -> bool {
        self.0 & ERROR != 0
    }

    /// Both interests together; the same as `|`, and usable in constants.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::io::Interest;
    ///
    /// const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);
    /// assert_eq!(BOTH, Interest::READABLE | Interest::WRITABLE);
    /// ```
    #[must_use = "`add` returns the sum and leaves `self` unchanged"]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// This interest without `other`, or `None` if nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::io::Interest;
    ///
    /// let both = Interest::READABLE | Interest::WRITABLE;
    /// assert_eq!(both.remove(Interest::READABLE), Some(Interest::WRITABLE));
    /// assert_eq!(Interest::WRITABLE.remove(Interest::WRITABLE), None);
    /// # std::io::Result::Ok(())
    /// ```
    #[must_use = "`remove` returns the rest and leaves `self` unchanged"]
    pub fn remove(self, other: Interest) -> Option<Interest> {
        match self.0 & !other.0 {
            0 => None,
            rest => Some(Interest(rest)),
        }
    }

    /// The interest for mio. The system always reports errors, but mio has no empty interest: an
    /// interest in errors asks for reading too, as on tokio.
    pub(crate) fn to_mio(self) -> mio::Interest {
        let wanted = [
            (WRITABLE, mio::Interest::WRITABLE),
            #[cfg(any(target_os = "linux", target_os = "android"))]
            (PRIORITY, mio::Interest::PRIORITY),
        ];
        let others = wanted.into_iter().filter(|(bit, _)| self.0 & bit != 0).map(|(_, interest)| interest);
        let readable = (self.is_readable() || self.is_error()).then_some(mio::Interest::READABLE);
        others.chain(readable).reduce(mio::Interest::add).unwrap_or(mio::Interest::READABLE)
    }

    /// Whether the interest contains [`Interest::PRIORITY`]; false on systems that lack it.
    pub(crate) const fn wants_priority(self) -> bool {
        self.0 & PRIORITY != 0
    }
}

impl BitOr for Interest {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.add(other)
    }
}

impl BitOrAssign for Interest {
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [(READABLE, "READABLE"), (WRITABLE, "WRITABLE"), (PRIORITY, "PRIORITY"), (ERROR, "ERROR")];
        let set = names.into_iter().filter(|(bit, _)| self.0 & bit != 0).map(|(_, name)| name);
        f.write_str(&set.collect::<Vec<_>>().join(" | "))
    }
}
