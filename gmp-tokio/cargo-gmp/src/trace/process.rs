//! `cargo gmp trace PID`: the program records itself for a while, and this process gets the recording
//! (gmp-exec's `dump::recording` is the other side).

use std::fs::File;
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::files;
use super::request::OfProcess;
use super::siblings::of_runtime;
use crate::question::{Answering, ask};
use crate::tasks::{CUT_OFF, END};

/// The last letter of the name of a process that asks for a recording; a number of seconds follows.
const RECORDING: &str = "t";

const NO_RECORDER: &str = "no recorder\n";

/// The report, a part for each runtime.
///
/// # Errors
///
/// The process can't be asked, ends meanwhile, or can't record itself; or a file can't be written.
pub(super) fn report(request: &OfProcess) -> Result<String> {
    let OfProcess { process, time, output } = request;
    if let Some(path) = output {
        // What is there stays until there is a recording.
        File::options().append(true).create(true).open(path).with_context(|| cant_write(path))?;
    }
    let mut answering = ask(*process, &format!("{RECORDING}{}", time.as_secs()))?;
    eprintln!("recording process {process} for {} s ...", time.as_secs());
    let count = recordings(&mut answering)?;
    let folder = tempfile::tempdir().context("no folder for the recording")?;
    let kept = output.clone().unwrap_or_else(|| folder.path().join("recording.pftrace"));
    let paths: Vec<PathBuf> = (1..=count).map(|number| of_runtime(&kept, number)).collect();
    paths.iter().try_for_each(|path| save(&mut answering, path))?;
    let mut end = [0];
    ensure!(answering.read_exact(&mut end).is_ok() && end == [END], CUT_OFF);
    let parts: Result<Vec<String>> = paths.iter().map(|path| files::told(path)).collect();
    Ok(match &parts?[..] {
        [] => "no runtime\n".to_owned(),
        [one] => one.clone(),
        parts => parts.iter().zip(1..).map(|(part, number)| format!("runtime {number}: {part}\n")).collect(),
    })
}

/// How many recordings follow. The program answers when it has recorded them.
fn recordings(answering: &mut Answering) -> Result<usize> {
    let mut line = String::new();
    answering.read_line(&mut line).context("can't read the answer")?;
    ensure!(
        line != NO_RECORDER,
        "the program can't record itself: gmp-exec was built without its feature `insight`, which is on by default"
    );
    let count = line.strip_suffix(" recordings\n").and_then(|count| count.parse().ok());
    count.context(CUT_OFF)
}

/// Reads a recording in pieces, up to an empty one.
fn save(answering: &mut Answering, path: &Path) -> Result<()> {
    let cant_write = || cant_write(path);
    let mut file = BufWriter::new(File::create(path).with_context(cant_write)?);
    loop {
        let mut length = [0; 4];
        answering.read_exact(&mut length).context(CUT_OFF)?;
        let length = u64::from(u32::from_le_bytes(length));
        if length == 0 {
            return file.flush().with_context(cant_write);
        }
        let copied = io::copy(&mut answering.take(length), &mut file).with_context(cant_write)?;
        if copied != length {
            bail!(CUT_OFF);
        }
    }
}

fn cant_write(path: &Path) -> String {
    format!("can't write {}", path.display())
}
