//! One recording in one or several files, read in the order of time.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use indicatif::{ProgressBar, ProgressStyle};

use super::decode::{Decoder, Packet, Recording};
use super::event::What;
use super::packets::{End, Packets};
use super::report::Report;
use super::siblings::siblings;
use super::tell::Telling;
use crate::escaped::escaped;

/// Larger files show how far they are read.
const LARGE: u64 = 50_000_000;

/// The report, and a line about each file that is not whole.
///
/// # Errors
///
/// A file can't be read, is no recording, or is of another recording than the others.
pub(super) fn report(paths: &[PathBuf]) -> Result<String> {
    let heads = heads(paths)?;
    Ok(told_of(&heads)? + &others(&heads))
}

/// The same without a line about files of other runtimes.
///
/// # Errors
///
/// See [`report`].
pub(super) fn told(path: &Path) -> Result<String> {
    told_of(&heads(&[path])?)
}

/// In the order of time.
fn heads(paths: &[impl AsRef<Path>]) -> Result<Vec<Head>> {
    let mut heads = paths.iter().map(|path| Head::read(path.as_ref())).collect::<Result<Vec<_>>>()?;
    for head in &heads[1..] {
        head.must_belong_to(&heads[0])?;
    }
    heads.sort_by_key(|head| head.begin);
    Ok(heads)
}

fn told_of(heads: &[Head]) -> Result<String> {
    let total = heads.iter().map(|head| head.size).sum();
    let progress = progress(total, io::stderr().is_terminal());
    let mut reading = Reading::default();
    let mut text = String::new();
    for head in heads {
        text.extend(reading.file(head, &progress)?);
    }
    progress.finish_and_clear();
    let report =
        Report { told: reading.telling.finish(), names: &reading.decoder.names, processors: reading.processors };
    Ok(text + &report.text())
}

/// A line about the recordings of other runtimes of the process, which stand beside this one.
fn others(heads: &[Head]) -> String {
    let [head] = heads else { return String::new() };
    let process = |head: &Head| head.recording.as_ref().map(|recording| recording.process);
    let is_of_process = |path: &PathBuf| Head::read(path).is_ok_and(|other| process(&other) == process(head));
    let names: Vec<String> = siblings(&head.path).into_iter().filter(is_of_process).map(|path| name(&path)).collect();
    if names.is_empty() { names.concat() } else { format!("\nother runtimes of the process: {}\n", names.join(", ")) }
}

/// Of files with so many bytes together; hidden if they are read soon, or nobody looks.
fn progress(total: u64, is_terminal: bool) -> ProgressBar {
    if total > LARGE && is_terminal { bar(total) } else { ProgressBar::hidden() }
}

fn bar(size: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("reading [{bar:30}] {bytes} of {total_bytes}");
    ProgressBar::new(size).with_style(style.expect("the template is constant and good").progress_chars("##-"))
}

/// What the beginning of a file says.
struct Head {
    path: PathBuf,
    size: u64,
    recording: Option<Recording>,
    /// The moment of the first event.
    begin: u64,
}

impl Head {
    fn read(path: &Path) -> Result<Head> {
        let file = open(path)?;
        let size = file.metadata().with_context(|| cant_read(path))?.len();
        let (mut decoder, mut packets, mut recording) = (Decoder::default(), Packets::new(file), None);
        loop {
            let at = packets.at();
            let packet = match packets.next() {
                Ok(packet) => decoder.packet(packet).unwrap_or(Packet::Nothing),
                Err(End::Error(error)) => return Err(error).context(cant_read(path)),
                Err(_) if at == 0 => bail!("{} is not a recording of gmp's", name(path)),
                Err(_) => bail!("{} has no events that can be read", name(path)),
            };
            match packet {
                Packet::Recording(found) => recording = recording.or(Some(found)),
                Packet::Event(event) => return Ok(Head { path: path.to_owned(), size, recording, begin: event.at }),
                Packet::FileBegins | Packet::Nothing => {}
            }
        }
    }

    fn must_belong_to(&self, first: &Head) -> Result<()> {
        let process = |head: &Head| head.recording.as_ref().map_or(0, |recording| recording.process);
        let (one, other) = (process(first), process(self));
        let how = if one == other { "both of process" } else { "of the processes" };
        let which = if one == other { one.to_string() } else { format!("{one} and {other}") };
        ensure!(
            self.recording == first.recording,
            "{} and {} are two recordings, {how} {which}: ask for each by itself",
            name(&first.path),
            name(&self.path)
        );
        Ok(())
    }
}

#[derive(Default)]
struct Reading {
    recording: Option<Recording>,
    decoder: Decoder,
    telling: Telling,
    processors: usize,
    /// Where the next packet of the file begins.
    at: u64,
    /// The file has its end.
    is_complete: bool,
}

impl Reading {
    /// A line about a file that is not whole.
    fn file(&mut self, head: &Head, progress: &ProgressBar) -> Result<Option<String>> {
        let mut packets = Packets::new(progress.wrap_read(open(&head.path)?));
        self.telling.file_begins();
        (self.at, self.is_complete) = (0, false);
        let end = loop {
            match packets.next() {
                Ok(packet) => match self.decoder.packet(packet) {
                    Ok(packet) => self.packet(packet).with_context(|| name(&head.path))?,
                    Err(_) => break End::Damaged,
                },
                Err(end) => break end,
            }
            self.at = packets.at();
        };
        let what = match end {
            End::File if self.is_complete => return Ok(None),
            End::Error(error) => return Err(error).context(cant_read(&head.path)),
            End::File | End::CutOff => "cut off",
            End::Damaged => "damaged",
        };
        let (file, at, size) = (name(&head.path), self.at, head.size);
        Ok(Some(format!("{file} is {what} at byte {at} of {size}; this is what it has before\n")))
    }

    fn packet(&mut self, packet: Packet) -> Result<()> {
        match packet {
            Packet::FileBegins => {
                self.is_complete = false;
                self.telling.file_begins();
            }
            Packet::Recording(recording) => {
                let first = self.recording.get_or_insert_with(|| recording.clone());
                ensure!(*first == recording, "this file has two recordings: ask for each by itself");
            }
            Packet::Event(event) => {
                self.is_complete |= matches!(event.what, What::Snapshot);
                self.telling.add(&event);
            }
            Packet::Nothing => {}
        }
        self.processors = self.processors.max(self.decoder.processors);
        Ok(())
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).with_context(|| cant_read(path))
}

fn cant_read(path: &Path) -> String {
    format!("can't read {}", name(path))
}

fn name(path: &Path) -> String {
    escaped(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_files_show_how_far_they_are_read_on_a_terminal() {
        let length = |total, is_terminal| progress(total, is_terminal).length();
        assert_eq!(length(LARGE + 1, true), Some(LARGE + 1));
        assert_eq!((length(LARGE, true), length(LARGE + 1, false)), (None, None));
    }
}
