//! Measures one program, and keeps its output.
//!
//! The figures come from `/proc`, not from `getrusage`, which counts this process's memory, from
//! before the child becomes the program, towards the child's peak. Peak memory and threads are read
//! every few milliseconds. CPU time is read once, when the program has ended but has not been
//! waited for, so it is complete.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context, Result};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tempfile::TempDir;

use crate::tool::{exit_code, ignore_interrupts};

/// Names the folder for the figures of the programs.
pub(crate) const VARIABLE: &str = "GMP_MEASURE";

/// The pause between two readings. It grows with the program's age, so that the time since the last
/// reading is always short compared with that age.
fn pause(lived: Duration) -> Duration {
    (lived / 8).clamp(Duration::from_micros(300), Duration::from_millis(5))
}

/// The figures of all programs of a command together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Figures {
    /// The exit code of the last program that failed.
    pub(crate) exit_code: String,
    pub(crate) wall: Duration,
    pub(crate) cpu: Option<Duration>,
    /// In KiB, of the program with the largest peak.
    pub(crate) memory: Option<u64>,
    pub(crate) threads: Option<u64>,
}

impl Figures {
    fn and(self, other: Figures) -> Figures {
        Figures {
            exit_code: if other.exit_code == "0" { self.exit_code } else { other.exit_code },
            wall: self.wall + other.wall,
            cpu: self.cpu.zip(other.cpu).map(|(one, other)| one + other),
            memory: self.memory.max(other.memory),
            threads: self.threads.max(other.threads),
        }
    }

    fn to_text(&self) -> String {
        let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let fields = [Some(micros(self.wall)), self.cpu.map(micros), self.memory, self.threads].map(number);
        format!("{} {}", self.exit_code, fields.join(" "))
    }

    fn of_text(text: &str) -> Option<Figures> {
        let mut fields = text.split(' ');
        let exit_code = fields.next()?.to_owned();
        let mut number = || fields.next().map(|field| field.parse().ok());
        let (wall, cpu, memory, threads) = (number()??, number()?, number()?, number()?);
        let micros = Duration::from_micros;
        Some(Figures { exit_code, wall: micros(wall), cpu: cpu.map(micros), memory, threads })
    }
}

// ---- for the command that compares ----

/// The folder in which the programs that cargo starts leave their figures.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

const OUTPUT: [&str; 2] = ["stdout", "stderr"];

impl Folder {
    /// With `is_quiet`, the programs' output is kept and not printed.
    pub(crate) fn make(is_quiet: bool) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        for name in OUTPUT.iter().filter(|_| is_quiet) {
            File::create(folder.path().join(name))?;
        }
        Ok(Folder(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// The last program that was started. It may have ended.
    pub(crate) fn program(&self) -> Option<Pid> {
        let text = fs::read_to_string(self.path().join("pid")).ok()?;
        Pid::from_raw(text.parse().ok()?)
    }

    /// The figures of all programs that have ended. `None` if there are none.
    pub(crate) fn figures(&self) -> Result<Option<Figures>> {
        let mut all = None;
        for entry in fs::read_dir(self.path())? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "figures") {
                let figures = Figures::of_text(&fs::read_to_string(path)?).context("figures that are none")?;
                all = Some(
                    all.unwrap_or(Figures {
                        exit_code: "0".to_owned(),
                        cpu: Some(Duration::ZERO),
                        ..Figures::default()
                    })
                    .and(figures),
                );
            }
        }
        Ok(all)
    }

    pub(crate) fn output(&self) -> [String; 2] {
        OUTPUT.map(|name| String::from_utf8_lossy(&fs::read(self.path().join(name)).unwrap_or_default()).into_owned())
    }
}

// ---- for the process that starts the program ----

/// The folder for the figures, if this program is to be measured.
pub(crate) fn wanted() -> Option<PathBuf> {
    env::var_os(VARIABLE).map(PathBuf::from)
}

/// Runs the program to its end, and writes its figures.
pub(crate) fn run(mut command: Command, folder: &Path) -> Result<ExitCode> {
    command.env_remove(VARIABLE);
    let file = |name| File::options().append(true).open(folder.join(name)).ok();
    file(OUTPUT[0]).map(|file| command.stdout(file));
    file(OUTPUT[1]).map(|file| command.stderr(file));
    ignore_interrupts()?;
    let start = Instant::now();
    let mut child = command.spawn().context("can't start the program")?;
    let id = child.id();
    put(folder, "pid", &id.to_string())?;
    let (memory, threads) = watch(&child)?;
    let wall = start.elapsed();
    let cpu = cpu_time(id);
    let code = exit_code(child.wait()?);
    let figures = Figures { exit_code: format!("{code}"), wall, cpu, memory, threads };
    put(folder, &format!("{id}.figures"), &figures.to_text())?;
    Ok(ExitCode::from(code))
}

/// Writes the file under another name and renames it, so that a reader sees only complete files.
fn put(folder: &Path, name: &str, text: &str) -> Result<()> {
    let unfinished = folder.join(format!("{}.unfinished", std::process::id()));
    fs::write(&unfinished, text)?;
    Ok(fs::rename(unfinished, folder.join(name))?)
}

/// Reads the peak memory and the threads until the program ends. Does not wait for the child, so
/// its entry in `/proc` is still there.
fn watch(child: &Child) -> Result<(Option<u64>, Option<u64>)> {
    let has_ended = AtomicBool::new(false);
    thread::scope(|scope| {
        let looking = scope.spawn(|| {
            let start = Instant::now();
            let mut most = look(child.id());
            while !has_ended.load(Ordering::Relaxed) {
                thread::park_timeout(pause(start.elapsed()));
                let (memory, threads) = look(child.id());
                most = (most.0.max(memory), most.1.max(threads));
            }
            most
        });
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let waited = rustix::io::retry_on_intr(|| waitid(WaitId::Pid(Pid::from_child(child)), options));
        has_ended.store(true, Ordering::Relaxed);
        looking.thread().unpark();
        let most = looking.join().expect("looks and adds nothing up");
        waited?;
        Ok(most)
    })
}

/// The peak memory in KiB so far, and the current number of threads.
fn look(id: u32) -> (Option<u64>, Option<u64>) {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    (field("VmHWM:"), field("Threads:"))
}

/// The program's CPU time, including that of the children that it waited for.
fn cpu_time(id: u32) -> Option<Duration> {
    const TICK: Duration = Duration::from_millis(10);
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The program's name may contain spaces and brackets.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4).map(|field| field.parse::<u32>().ok());
    Some(TICK * ticks.sum::<Option<u32>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(script: &str) -> (Figures, [String; 2]) {
        let folder = Folder::make(true).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, folder.path()).unwrap();
        (folder.figures().unwrap().unwrap(), folder.output())
    }

    #[test]
    fn a_programs_end_and_words_are_kept() {
        let (figures, output) = measured("echo a; echo b >&2; exit 3");
        assert_eq!(figures.exit_code, "3");
        assert_eq!(output, ["a\n", "b\n"]);
        assert_eq!(measured("kill -9 $$").0.exit_code, "137");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_it_takes_is_seen() {
        let (figures, _) = measured("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
        assert!(
            figures.cpu.unwrap() > Duration::ZERO && figures.cpu.unwrap() <= figures.wall + Duration::from_millis(40)
        );
        assert!(figures.memory.unwrap() > 100 && figures.threads == Some(1), "{figures:?}");
    }

    #[test]
    fn figures_of_several_programs_are_put_together() {
        let folder = Folder::make(false).unwrap();
        assert_eq!(folder.figures().unwrap(), None);
        put(folder.path(), "1.figures", "0 10 5 100 4").unwrap();
        put(folder.path(), "2.figures", "101 20 6 50 8").unwrap();
        let micros = Duration::from_micros;
        let expected = Figures {
            exit_code: "101".to_owned(),
            wall: micros(30),
            cpu: Some(micros(11)),
            memory: Some(100),
            threads: Some(8),
        };
        assert_eq!(folder.figures().unwrap(), Some(expected));
        put(folder.path(), "3.figures", "0 1 - - -").unwrap();
        assert_eq!(folder.figures().unwrap().unwrap().cpu, None);
    }
}
