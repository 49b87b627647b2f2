//! `GMP_CLOSURES`: which thread runs the closures of `spawn_blocking`.

use std::io;

use crate::sys::environment;

const VARIABLE: &str = "GMP_CLOSURES";

/// Whether machines run closures, from `GMP_CLOSURES`. `None`: the variable is not set.
///
/// # Errors
///
/// The variable is set, but neither `threads` nor `in-place`.
pub(crate) fn in_place_from_env() -> io::Result<Option<bool>> {
    match environment::var_os(VARIABLE) {
        None => Ok(None),
        Some(text) if text == "threads" => Ok(Some(false)),
        Some(text) if text == "in-place" => Ok(Some(true)),
        Some(text) => {
            let error = format!("{VARIABLE}: unknown setting {text:?}; allowed are threads and in-place");
            Err(io::Error::new(io::ErrorKind::InvalidInput, error))
        }
    }
}
