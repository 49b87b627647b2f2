//! Which registration a descriptor number belongs to.
//!
//! The kernel knows descriptors only by number. Another library may close a descriptor first and drop
//! its registration second. By then the number may be in use again and registered by another owner,
//! which a late deregistration must not hit.
//!
//! The kernel is asked under the lock of these numbers, so that both always agree. The lock of the
//! [`Sources`](super::sources::Sources) is another one, which is not held meanwhile: a descriptor that
//! is ready wakes the poller inside the call, and the poller needs the sources next.
//!
//! | registering thread | deregistering thread | poller |
//! |---|---|---|
//! | G1 lock the numbers | D1 lock the numbers | |
//! | G2 add the source | D2 remove the source; not there: end | P1 the kernel reports an event |
//! | G3 ask the kernel; refused: remove it, end | D3 the number is another's: end | P2 look for the source |
//! | G4 note the number; unlock | D4 ask the kernel; unlock | |
//!
//! *An event is delivered to its source*: G2 is before G3. *An event that is on its way finds no source
//! after D2*, whatever the entry is used for next, because tokens have generations. *A refused
//! registration changes nothing*, and D4 hits no other owner's: the numbers are locked from G2 to G4
//! and from D2 to D4. *If the sources' lock were held during G3*, P2 would wait for it in the kernel.

use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;

use mio::Token;

/// The newest registration of each number.
#[derive(Debug, Default)]
pub(super) struct Numbers(HashMap<RawFd, Token>);

impl Numbers {
    /// The system has registered `fd` for this registration.
    pub(super) fn note(&mut self, fd: RawFd, token: Token) {
        self.0.insert(fd, token);
    }

    /// Calls `deregister` if the number still belongs to this registration.
    pub(super) fn release(
        &mut self,
        fd: RawFd,
        token: Token,
        deregister: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if self.0.get(&fd) != Some(&token) {
            return Ok(());
        }
        self.0.remove(&fd);
        deregister()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FD: RawFd = 3;

    /// Whether the system is told.
    fn release(numbers: &mut Numbers, token: usize) -> bool {
        let mut told = false;
        let tell = || {
            told = true;
            Ok(())
        };
        numbers.release(FD, Token(token), tell).expect("released");
        told
    }

    #[test]
    fn a_reused_number_is_not_deregistered_by_its_former_owner() {
        let mut numbers = Numbers::default();
        numbers.note(FD, Token(1));
        numbers.note(FD, Token(2));
        assert!(!release(&mut numbers, 1));
        assert!(release(&mut numbers, 2));
        assert!(!release(&mut numbers, 2), "once");
    }
}
