//! A running process that is asked for its tasks (gmp-exec's `dump::asked` is the other side).
//!
//! The question is SIGURG, which does nothing to a program that does not expect it. All the same, no
//! program gets it in which gmp is not.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use memchr::memmem;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

/// The bytes by which a program's file shows that gmp is in it, and answers.
const MARK: &[u8] = b"\x7fgmp answers SIGURG, 1";

/// A monitor thread of gmp's, and the thread that `GMP_DEBUG=sigquit=1` starts. Either answers also
/// if all others are stuck.
const ANSWER_BEST: [&str; 2] = ["gmp-sysmon\n", "gmp-dump\n"];

#[derive(Debug)]
pub(crate) struct Asked {
    process: Pid,
}

impl Asked {
    /// # Errors
    ///
    /// Fails if there is no such process, and if it can't be asked, and says why.
    pub(crate) fn find(process: Pid) -> Result<Asked> {
        let asked = Asked { process };
        let status =
            fs::read_to_string(asked.folder().join("status")).with_context(|| format!("no process {process}"))?;
        if asked.is_on_gmp()? {
            if !catches(&status, Signal::URG) {
                bail!(
                    "process {process} is a program on gmp, and can't be asked: it has built no runtime yet, was \
                     started with GMP_DEBUG=asks=0 or with SIGURG ignored, or has more rights than its caller"
                );
            }
            return Ok(asked);
        }
        match asked.child_on_gmp() {
            Some(child) => bail!("process {process} is not a program on gmp, but its child {child} is"),
            None => bail!("process {process} is not a program on gmp (`cargo gmp run` and `cargo gmp build` make one)"),
        }
    }

    /// Threads that may answer, the likeliest first.
    pub(crate) fn threads(&self) -> Result<Vec<Pid>> {
        let mut threads = self.named_threads()?;
        if threads.iter().any(|(_, is_best)| *is_best) {
            threads.retain(|(_, is_best)| *is_best);
        }
        Ok(threads.into_iter().map(|(thread, _)| thread).collect())
    }

    /// Sends the question to a thread. For the kernel, the number of a thread stands for its process
    /// too, and that thread gets the signal if it can.
    pub(crate) fn ask(&self, thread: Pid) -> Result<()> {
        match kill_process(thread, Signal::URG) {
            // Threads come and go.
            Err(Errno::SRCH) if thread != self.process => Ok(()),
            asked => asked.map_err(|error| cant_ask(self.process, &error.into())),
        }
    }

    /// Whether the process was stopped, as by Ctrl-Z.
    pub(crate) fn is_stopped(&self) -> bool {
        let status = fs::read_to_string(self.folder().join("status")).unwrap_or_default();
        field(&status, "State:").is_some_and(|state| state.starts_with(['T', 't']))
    }

    fn folder(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.process))
    }

    fn named_threads(&self) -> Result<Vec<(Pid, bool)>> {
        let threads =
            fs::read_dir(self.folder().join("task")).with_context(|| format!("no process {}", self.process))?;
        let named = threads.flatten().filter_map(|thread| {
            let id = Pid::from_raw(thread.file_name().to_str()?.parse().ok()?)?;
            let name = fs::read_to_string(thread.path().join("comm")).ok()?;
            Some((id, ANSWER_BEST.contains(&&*name)))
        });
        Ok(named.collect())
    }

    /// # Errors
    ///
    /// Fails if the process is of another user.
    fn is_on_gmp(&self) -> Result<bool> {
        let program = self.folder().join("exe");
        let program = match File::open(&program) {
            // A kernel thread, or a process that has ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened.map_err(|error| cant_ask(self.process, &error))?,
        };
        let libraries = || self.libraries().iter().any(|library| File::open(library).is_ok_and(has_mark));
        Ok(has_mark(program) || libraries())
    }

    /// Shared libraries: gmp may be in a module of Python's.
    fn libraries(&self) -> Vec<PathBuf> {
        let maps = fs::read_to_string(self.folder().join("maps")).unwrap_or_default();
        let root = self.folder().join("root");
        let code = maps.lines().filter(|line| line.split(' ').nth(1) == Some("r-xp"));
        let paths = code.filter_map(|line| line.find('/').map(|start| &line[start + 1..]));
        paths.map(|path| root.join(path)).filter(|path| is_library(path)).collect()
    }

    fn child_on_gmp(&self) -> Option<Pid> {
        let children = fs::read_to_string(self.folder().join(format!("task/{}/children", self.process))).ok()?;
        let children = children.split_whitespace().filter_map(|child| Pid::from_raw(child.parse().ok()?));
        children.into_iter().find(|&process| Asked { process }.is_on_gmp().unwrap_or(false))
    }
}

fn cant_ask(process: Pid, error: &io::Error) -> anyhow::Error {
    match error.kind() {
        io::ErrorKind::PermissionDenied => anyhow!(
            "can't ask process {process}: only its own user may, with the same rights and in the same container \
             ({error})"
        ),
        _ => anyhow!("can't ask process {process}: {error}"),
    }
}

fn is_library(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.contains(".so"))
}

/// Reads the file in pieces, each with the end of the one before.
fn has_mark(mut file: File) -> bool {
    let (mut piece, mut kept) = (vec![0; 1 << 20], 0);
    while let Ok(read @ 1..) = file.read(&mut piece[kept..]) {
        let end = kept + read;
        if memmem::find(&piece[..end], MARK).is_some() {
            return true;
        }
        kept = end.min(MARK.len() - 1);
        piece.copy_within(end - kept..end, 0);
    }
    false
}

/// The line `SigCgt:` of proc_pid_status(5).
fn catches(status: &str, signal: Signal) -> bool {
    let mask = field(status, "SigCgt:").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    mask.is_some_and(|mask| mask & 1 << (signal.as_raw() - 1) != 0)
}

fn field<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_mark_is_found_wherever_it_is() {
        for before in [0, 1, (1 << 20) - 10, 1 << 20, 3_000_000] {
            let mut file = tempfile::NamedTempFile::new().unwrap();
            file.write_all(&vec![b'\x7f'; before]).unwrap();
            assert!(!has_mark(file.reopen().unwrap()));
            file.write_all(MARK).unwrap();
            assert!(has_mark(file.reopen().unwrap()), "{before}");
        }
    }

    #[test]
    fn caught_signals_are_read() {
        let status = "Name:\tapp\nSigIgn:\tffffffffffffffff\nSigCgt:\t0000000000400000\n";
        assert!(catches(status, Signal::URG) && !catches(status, Signal::QUIT) && !catches("", Signal::URG));
    }

    #[test]
    fn who_may_ask_is_told() {
        let error = cant_ask(Pid::from_raw(7).unwrap(), &Errno::PERM.into()).to_string();
        assert!(error.starts_with("can't ask process 7: only its own user may, "), "{error}");
        assert!(error.ends_with(" (Operation not permitted (os error 1))"), "{error}");
    }

    #[test]
    fn a_program_without_gmp_is_told_as_such() {
        let mut program = Command::new("sleep").arg("1000").spawn().unwrap();
        let process = Pid::from_child(&program);
        let error = Asked::find(process).unwrap_err().to_string();
        let expected =
            format!("process {process} is not a program on gmp (`cargo gmp run` and `cargo gmp build` make one)");
        assert_eq!(error, expected);
        program.kill().unwrap();
        program.wait().unwrap();
        assert_eq!(Asked::find(process).unwrap_err().to_string(), format!("no process {process}"));
    }
}
