//! `GMP_DEBUG=sigquit=1`: SIGQUIT (Ctrl-\) prints the tasks of all runtimes, and the program goes
//! on.
//!
//! The handler writes into a pipe, and a thread ("gmp-dump"), which sleeps in a read of that pipe,
//! makes the text. So an idle process makes no wake-up, and the text is made while every machine is
//! stuck.
//!
//! The text goes to standard error in one write. `cargo gmp tasks PID` gets it instead, if it was
//! that command that has sent the signal: its thread's name says which of its descriptors the text
//! is to be written into. Only processes of the same user can be read in `/proc`, so no other user
//! gets the text.

use std::fs::{self, File};
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, Weak};

use super::signal::Signals;
use super::tree::TaskTree;
use super::walk::Tasks;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;

/// The beginning of the asking thread's name. A descriptor follows, and `j` for JSON.
const ASKER: &str = "gmp-tasks:";

/// The first line of an answer: an asker sees that it has begun, and that it understands it.
const GREETING: &[u8] = b"gmp 1\n";

/// Lines about tasks that wait for other tasks.
const MOST_LINES: usize = 50;

#[derive(Debug)]
struct Watched {
    runtimes: Vec<Weak<Scheduler>>,
    is_installed: bool,
}

static WATCHED: Mutex<Watched> = Mutex::new(Watched { runtimes: Vec::new(), is_installed: false });

fn lock() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// From now on SIGQUIT prints the tasks of this runtime, too.
///
/// # Errors
///
/// Fails if the system has no descriptor or no thread to give.
pub(crate) fn watch(scheduler: &Arc<Scheduler>) -> io::Result<()> {
    let mut watched = lock();
    watched.runtimes.retain(|runtime| runtime.strong_count() > 0);
    watched.runtimes.push(Arc::downgrade(scheduler));
    if !watched.is_installed {
        if let Some(signals) = Signals::install()? {
            std::thread::Builder::new().name("gmp-dump".to_owned()).spawn(move || answer(signals))?;
        }
        watched.is_installed = true;
    }
    Ok(())
}

fn answer(mut signals: Signals) {
    while let Ok(sender) = signals.next() {
        let runtimes: Vec<Arc<Scheduler>> = lock().runtimes.iter().filter_map(Weak::upgrade).collect();
        // Nothing can be done about a closed stderr, or an asker that has gone.
        let _ = match Asker::find(sender) {
            Some(asker) => asker.answer(&runtimes),
            None => io::stderr().lock().write_all(prefixed(&text(&runtimes)).as_bytes()),
        };
        runtimes.iter().for_each(|runtime| runtime.recorded.note_sigquit(runtime));
    }
}

fn text(runtimes: &[Arc<Scheduler>]) -> String {
    let section = |(index, runtime): (usize, &Arc<Scheduler>)| {
        let name = runtime.config.name.as_deref().map_or_else(String::new, |name| format!(" \"{name}\""));
        let tasks = || Tasks::of(SchedulerRef::new(runtime.clone()));
        format!("runtime {}{name}: {}{}", index + 1, tasks().groups(), beginning(&tasks().tree()))
    };
    match runtimes {
        [] => "no runtime\n".to_owned(),
        _ => runtimes.iter().enumerate().map(section).collect(),
    }
}

/// The first lines about which task waits for which; nothing if no task waits for another task.
fn beginning(tree: &TaskTree) -> String {
    let text = tree.to_string();
    let rest = match text.lines().count().saturating_sub(MOST_LINES) {
        0 => String::new(),
        count => format!("  {count} more\n"),
    };
    let head = if text.is_empty() { "" } else { "tasks that wait for other tasks:\n" };
    let lines = text.lines().take(MOST_LINES).map(|line| format!("  {line}\n"));
    format!("{head}{}{rest}", lines.collect::<String>())
}

fn write_json(runtimes: &[Arc<Scheduler>], out: &mut impl Write) -> io::Result<()> {
    for runtime in runtimes {
        for info in Tasks::of(SchedulerRef::new(runtime.clone())) {
            writeln!(out, "{}", info.json())?;
        }
    }
    Ok(())
}

fn prefixed(text: &str) -> String {
    text.lines().map(|line| format!("gmp: {line}\n")).collect()
}

/// A process that waits for the text.
#[derive(Debug)]
struct Asker {
    file: File,
    is_json: bool,
}

impl Asker {
    fn answer(self, runtimes: &[Arc<Scheduler>]) -> io::Result<()> {
        let mut out = io::BufWriter::new(self.file);
        out.write_all(GREETING)?;
        if self.is_json {
            write_json(runtimes, &mut out)?
        } else {
            out.write_all(text(runtimes).as_bytes())?
        }
        out.flush()
    }

    fn find(process: i32) -> Option<Asker> {
        let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
        let (descriptor, is_json) = parse(&name)?;
        let file = File::options().write(true).open(format!("/proc/{process}/fd/{descriptor}")).ok()?;
        Some(Asker { file, is_json })
    }
}

fn parse(name: &str) -> Option<(u32, bool)> {
    let rest = name.trim_end().strip_prefix(ASKER)?;
    let number = rest.strip_suffix('j');
    Some((number.unwrap_or(rest).parse().ok()?, number.is_some()))
}

#[cfg(test)]
mod tests {
    use super::{parse, prefixed};

    #[test]
    fn an_asker_is_known_by_the_name_of_its_thread() {
        assert_eq!(parse("gmp-tasks:17\n"), Some((17, false)));
        assert_eq!(parse("gmp-tasks:3j\n"), Some((3, true)));
        for name in ["bash\n", "gmp-tasks\n", "gmp-tasks:\n", "gmp-tasks:x\n", "gmp-tasks:-1\n", "cargo-gmp\n"] {
            assert_eq!(parse(name), None, "{name}");
        }
    }

    #[test]
    fn each_line_says_where_it_comes_from() {
        assert_eq!(prefixed("1 task\n  1 waiting\n"), "gmp: 1 task\ngmp:   1 waiting\n");
    }
}
