//! `cargo gmp trace FILE`: what gmp's recorder has seen, in words, for those who have no Perfetto
//! at hand. Files of one long recording may follow each other.
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
mod report;
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
use std::path::PathBuf;
use std::process::ExitCode;

pub use self::slices::{Instant, Slice, Trace};

/// As if the signal had ended this process, as it ends others.
const BROKEN_PIPE: u8 = 128 + 13;

pub(crate) fn trace(arguments: &[OsString]) -> ExitCode {
    let is_option = |argument: &&OsString| argument.to_string_lossy().starts_with('-');
    match arguments.iter().find(is_option) {
        Some(option) => return misused(&format!("unknown option {option:?}")),
        None if arguments.is_empty() => return misused("no file"),
        None => {}
    }
    let paths: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
    match files::report(&paths) {
        Ok(report) => print(&report),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
    }
}

fn misused(what: &str) -> ExitCode {
    eprintln!("error: {what}; usage: cargo gmp trace <FILE>...");
    ExitCode::from(2)
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
