//! The environment variables `GMP_*`, each of which is read here.
//!
//! A program that runs with rights that its caller does not have (set-uid, set-gid or file
//! capabilities) sees none of them: the caller would choose which files `GMP_TRACE` overwrites and
//! deletes. The C library ignores its variables in the same case.
#![allow(unsafe_code, reason = "asks the C library whether the program has more rights than its caller")]

use std::env::VarError;
use std::ffi::OsString;
use std::{env, io};

/// `None`: the variable is not set, or does not count.
pub(crate) fn var_os(name: &str) -> Option<OsString> {
    if has_more_rights_than_its_caller() { None } else { env::var_os(name) }
}

/// The value of a variable that `parse` understands.
///
/// # Errors
///
/// The value is not valid UTF-8, or `parse` does not understand it.
pub(crate) fn parsed<T>(name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> io::Result<Option<T>> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    if has_more_rights_than_its_caller() {
        return Ok(None);
    }
    match env::var(name) {
        Ok(text) => parse(&text).map(Some).map_err(invalid),
        Err(VarError::NotPresent) => Ok(None),
        Err(VarError::NotUnicode(text)) => Err(invalid(format!("{name}={text:?} is not valid UTF-8"))),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn has_more_rights_than_its_caller() -> bool {
    // SAFETY: reads a vector that the kernel has written when the program started. 0 also stands
    // for a vector without this entry.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn has_more_rights_than_its_caller() -> bool {
    // SAFETY: these system calls touch no memory, and always succeed.
    unsafe { libc::getuid() != libc::geteuid() || libc::getgid() != libc::getegid() }
}
