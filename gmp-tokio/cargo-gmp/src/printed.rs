//! Text for standard output, whose reader may have gone, as `head` does.

use std::io::{self, Write};

use anyhow::{Context, Result};

/// `false`: the reader has seen enough, which is no error.
pub(crate) fn printed(text: &str) -> Result<bool> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        printed => printed.context("can't write to standard output").map(|()| true),
    }
}
