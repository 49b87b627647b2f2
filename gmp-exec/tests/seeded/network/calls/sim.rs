//! The calls of gmp-sim.

use std::io::Error;

const NUMBER: libc::c_long = 0x67_6d70;
pub(crate) const OPEN: usize = 0;
pub(crate) const ENTER: usize = 1;
pub(crate) const ADDRESS: usize = 2;
pub(crate) const WAY: usize = 3;
pub(crate) const POWER: usize = 4;
pub(crate) const CLOCK: usize = 5;
pub(crate) const CHOOSE: usize = 6;

pub(crate) const OPEN_WAY: usize = 0;
pub(crate) const CUT: usize = 1;
pub(crate) const HELD: usize = 2;

/// The error's number, if the call fails.
pub(crate) fn call(what: usize, a: usize, b: usize, c: usize) -> Result<usize, i32> {
    // SAFETY: only the engine has this call, and it reads no memory but the name of `OPEN`.
    let answer = unsafe { libc::syscall(NUMBER, what, a, b, c) };
    usize::try_from(answer).map_err(|_| Error::last_os_error().raw_os_error().unwrap_or(0))
}
