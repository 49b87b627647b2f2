//! `cargo gmp trace FILE`: what gmp's recorder has seen, in words, for those who have no Perfetto
//! at hand. Files of one long recording may follow each other.

mod file;
mod polls;
mod report;
mod wire;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

pub use self::file::{Instant, Slice, Trace};

pub(crate) fn trace(arguments: &[OsString]) -> Result<ExitCode> {
    let [first, ..] = arguments else { bail!("usage: cargo gmp trace FILE...") };
    let mut bytes = Vec::new();
    for file in arguments {
        let file = Path::new(file);
        bytes.extend(fs::read(file).with_context(|| format!("can't read {}", file.display()))?);
    }
    let first = Path::new(first).display();
    let trace = Trace::read(&bytes).with_context(|| format!("{first} is not a trace of gmp's"))?;
    io::stdout().lock().write_all(report::report(&trace).as_bytes()).context("can't print the report")?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_trace_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        for (bytes, expected) in [
            (&b"{\"traceEvents\":[]}"[..], "is not a trace of gmp's"),
            (b"", "it has no tracks"),
            (b"\x0a\x7f", "cut off"),
        ] {
            fs::write(&file, bytes).unwrap();
            let error = format!("{:#}", trace(&[file.clone().into()]).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(trace(&[]).unwrap_err().to_string(), "usage: cargo gmp trace FILE...");
    }
}
