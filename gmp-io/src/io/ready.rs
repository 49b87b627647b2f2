//! The readiness of a descriptor.

use std::fmt;
use std::ops::{BitAnd, BitOr, BitOrAssign, Sub};

use crate::io::Interest;

/// The operations that a descriptor is ready for.
///
/// Readiness is a hint: an operation may still return `WouldBlock`. A `Ready` is a set of flags,
/// combined with `|`, `&` and `-`.
///
/// # Examples
///
/// ```
/// use gmp_io::io::Ready;
///
/// let ready = Ready::READABLE | Ready::WRITE_CLOSED;
/// assert!(ready.is_readable());
/// assert!(ready.is_writable(), "a closed direction is ready: writing to it returns at once");
/// assert!((ready - ready).is_empty());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ready(u8);

const PRIORITY: u8 = 1 << 4;

impl Ready {
    /// Ready for nothing.
    pub const EMPTY: Ready = Ready(0);

    /// There is something to read.
    pub const READABLE: Ready = Ready(1 << 0);

    /// There is room to write.
    pub const WRITABLE: Ready = Ready(1 << 1);

    /// The peer has stopped writing: the bytes still buffered can be read, then the stream ends.
    pub const READ_CLOSED: Ready = Ready(1 << 2);

    /// The peer has stopped reading: writing fails.
    pub const WRITE_CLOSED: Ready = Ready(1 << 3);

    /// There is exceptional data, such as out-of-band data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Ready = Ready(PRIORITY);

    /// The descriptor is in an error state.
    pub const ERROR: Ready = Ready(1 << 5);

    /// Ready for everything.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const ALL: Ready = Ready(0b11_1111);

    /// Ready for everything.
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub const ALL: Ready = Ready(0b10_1111);

    /// The two flags that stay once they are set.
    pub(crate) const CLOSED: Ready = Ready(Ready::READ_CLOSED.0 | Ready::WRITE_CLOSED.0);

    /// Whether no flag is set.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::io::Ready;
    ///
    /// assert!(Ready::EMPTY.is_empty());
    /// assert!((Ready::READABLE & Ready::WRITABLE).is_empty());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn is_empty(self) -> bool {
        self == Ready::EMPTY
    }

    /// Whether a read would return at once, with data or at the end of the stream.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::io::Ready;
    ///
    /// assert!(Ready::READABLE.is_readable());
    /// assert!(Ready::READ_CLOSED.is_readable(), "a read returns at once");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn is_readable(self) -> bool {
        !(self & (Ready::READABLE | Ready::READ_CLOSED)).is_empty()
    }

    /// Whether a write would return at once, with progress or an error because the other side is
    /// closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::io::Ready;
    ///
    /// assert!(Ready::WRITABLE.is_writable());
    /// assert!(Ready::WRITE_CLOSED.is_writable(), "a write returns at once");
    /// # std::io::Result::Ok(())
    /// ```
    pub fn is_writable(self) -> bool {
        !(self & (Ready::WRITABLE | Ready::WRITE_CLOSED)).is_empty()
    }

    /// Whether the peer has stopped writing.
    pub fn is_read_closed(self) -> bool {
        !(self & Ready::READ_CLOSED).is_empty()
    }

    /// Whether the peer has stopped reading.
    pub fn is_write_closed(self) -> bool {
        !(self & Ready::WRITE_CLOSED).is_empty()
    }

    /// Whether there is exceptional data.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn is_priority(self) -> bool {
        !(self & Ready::PRIORITY).is_empty()
    }

    /// Whether the descriptor is in an error state.
    pub fn is_error(self) -> bool {
        !(self & Ready::ERROR).is_empty()
    }

    /// What mio derives from an event, and nothing more, as on tokio: an error alone does not end a wait
    /// for data, only a wait for [`ERROR`](Interest::ERROR).
    pub(crate) fn from_mio(event: &mio::event::Event) -> Ready {
        let flags = [
            (event.is_readable(), Ready::READABLE),
            (event.is_writable(), Ready::WRITABLE),
            (event.is_read_closed(), Ready::READ_CLOSED),
            (event.is_write_closed(), Ready::WRITE_CLOSED),
            #[cfg(any(target_os = "linux", target_os = "android"))]
            (event.is_priority(), Ready::PRIORITY),
            (event.is_error(), Ready::ERROR),
        ];
        flags.into_iter().filter(|(set, _)| *set).fold(Ready::EMPTY, |ready, (_, flag)| ready | flag)
    }

    /// The flags that end a wait for `interest`.
    pub(crate) fn that_satisfy(interest: Interest) -> Ready {
        let flags = [
            (interest.is_readable(), Ready::READABLE | Ready::READ_CLOSED),
            (interest.is_writable(), Ready::WRITABLE | Ready::WRITE_CLOSED),
            (interest.wants_priority(), Ready(PRIORITY) | Ready::READ_CLOSED),
            (interest.is_error(), Ready::ERROR),
        ];
        flags.into_iter().filter(|(set, _)| *set).fold(Ready::EMPTY, |ready, (_, flag)| ready | flag)
    }

    pub(crate) fn from_bits(bits: usize) -> Ready {
        Ready(bits as u8 & Ready::ALL.0)
    }

    pub(crate) fn bits(self) -> usize {
        self.0.into()
    }
}

impl BitOr for Ready {
    type Output = Ready;

    fn bitor(self, other: Ready) -> Ready {
        Ready(self.0 | other.0)
    }
}

impl BitOrAssign for Ready {
    fn bitor_assign(&mut self, other: Ready) {
        *self = *self | other;
    }
}

impl BitAnd for Ready {
    type Output = Ready;

    fn bitand(self, other: Ready) -> Ready {
        Ready(self.0 & other.0)
    }
}

impl Sub for Ready {
    type Output = Ready;

    fn sub(self, other: Ready) -> Ready {
        Ready(self.0 & !other.0)
    }
}

impl fmt::Debug for Ready {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ready")
            .field("is_readable", &self.is_readable())
            .field("is_writable", &self.is_writable())
            .field("is_read_closed", &self.is_read_closed())
            .field("is_write_closed", &self.is_write_closed())
            .field("is_error", &self.is_error())
            .field("is_priority", &(self.0 & PRIORITY != 0))
            .finish()
    }
}
