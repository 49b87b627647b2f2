//! `cargo gmp trace FILE`: what gmp's recorder has seen, in words, for those who have no Perfetto
//! at hand. Files of one long recording may follow each other. `cargo gmp trace PID` has a running
//! program record itself (`process`).
//!
//! `packets` reads a file, `decode` makes events of it, `polls` puts slices together, `whole` knows
//! of which time all events are there, `tell` adds up, and `report` has the words.

mod crowds;
mod decode;
mod event;
mod files;
mod idle;
mod packets;
mod polls;
mod process;
mod report;
mod request;
mod siblings;
mod slices;
mod tell;
mod top;
mod whole;
mod wire;

#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use anyhow::Result;

use self::request::Request;
pub use self::slices::{Instant, Slice, Trace};

/// As if the signal had ended this process, as it ends others.
const BROKEN_PIPE: u8 = 128 + 13;

/// # Errors
///
/// The command line is wrong, a file can't be read, or a process can't be asked.
pub(crate) fn trace(arguments: &[OsString]) -> Result<ExitCode> {
    let report = match Request::parse(arguments)? {
        Request::Files(paths) => files::report(&paths)?,
        Request::Process(request) => process::report(&request)?,
    };
    Ok(print(&report))
}

fn print(text: &str) -> ExitCode {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            eprintln!("error: can't print the report: {error}");
            ExitCode::from(1)
        }
    }
}
