//! `GMP_DEBUG=sigquit=1`: SIGQUIT (Ctrl-\) prints the tasks of all runtimes, and the program goes
//! on. `sigquit=lines` adds the lines at which they wait.
//!
//! The handler writes into a pipe, and a thread ("gmp-dump"), which sleeps in a read of that pipe,
//! makes the text. So an idle process makes no wake-up, and the text is made while every machine is
//! stuck.
//!
//! The text goes to standard error in one write. The same thread answers `cargo gmp tasks PID`
//! (`asked`).

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, Weak};

use super::asked;
use super::asker::{Asker, Form};
use super::ending;
use super::groups::TaskGroups;
use super::info::{TaskInfo, TaskState};
use super::process::OfProcess;
use super::signal::Signals;
use super::sites;
use super::tree::TaskTree;
use super::walk::Tasks;
use crate::sched::config::Sigquit;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::Arc;

/// The first line of an answer: an asker sees that it has begun, and that it understands it.
pub(super) const GREETING: &[u8] = b"gmp 1\n";
/// The end of an answer: what follows is not part of it.
pub(super) const END: &[u8] = b"\0";

const NOTHING_HELD: &str = "watched, nothing found";
const NOT_WATCHED: &str = "not watched: a runtime on a single thread is if GMP_BLOCKED=summary is set at its start";

/// Lines about tasks that wait for other tasks.
const MOST_LINES: usize = 50;

#[derive(Debug)]
struct Watched {
    runtimes: Vec<Weak<Scheduler>>,
    is_installed: bool,
    has_last_words: bool,
}

static WATCHED: Mutex<Watched> =
    Mutex::new(Watched { runtimes: Vec::new(), is_installed: false, has_last_words: false });

fn lock() -> MutexGuard<'static, Watched> {
    WATCHED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// From now on the tasks of this runtime can be asked for: by SIGURG, if `asks`, and by SIGQUIT, if
/// `sigquit` says so. With `GMP_BLOCKED=summary` and `GMP_TRACE` the process has last words.
///
/// # Errors
///
/// Fails if the system has no descriptor or no thread to give.
pub(crate) fn watch(scheduler: &Arc<Scheduler>, asks: bool, sigquit: Sigquit) -> io::Result<()> {
    let has_last_words = scheduler.config.blocked.has_summary() || scheduler.config.trace.is_some();
    let answers_sigquit = sigquit != Sigquit::Nothing;
    if !asks && !answers_sigquit && !has_last_words {
        return Ok(());
    }
    let mut watched = lock();
    watched.runtimes.retain(|runtime| runtime.strong_count() > 0);
    watched.runtimes.push(Arc::downgrade(scheduler));
    if asks {
        asked::listen();
    }
    if has_last_words && !watched.has_last_words {
        watched.has_last_words = true;
        ending::watch()?;
    }
    if answers_sigquit && !watched.is_installed {
        if let Some(signals) = Signals::install()? {
            std::thread::Builder::new().name("gmp-dump".to_owned()).spawn(move || answer(signals, sigquit))?;
        }
        watched.is_installed = true;
    }
    Ok(())
}

pub(super) fn runtimes() -> Vec<Arc<Scheduler>> {
    lock().runtimes.iter().filter_map(Weak::upgrade).collect()
}

fn answer(mut signals: Signals, sigquit: Sigquit) {
    while let Ok(sender) = signals.next() {
        match sender {
            0 => print(sigquit),
            sender => asked::answer(sender),
        }
    }
}

/// How many tasks there are, and what they wait for.
pub(crate) fn last_words() -> (usize, String) {
    let runtimes = runtimes();
    let tasks = runtimes.iter().map(|runtime| Tasks::of(SchedulerRef::new(runtime.clone())).count()).sum();
    (tasks, prefixed(&text(&runtimes)))
}

fn print(sigquit: Sigquit) {
    let runtimes = runtimes();
    let text = match sigquit {
        Sigquit::Lines => text_of(&runtimes, Tasks::groups_with_sites),
        _ => text(&runtimes) + &how_to_get_lines(&runtimes),
    };
    // Nothing can be done about a closed stderr.
    let _ = io::stderr().lock().write_all(prefixed(&text).as_bytes());
    runtimes.iter().for_each(|runtime| runtime.observers.recorded.note_sigquit(runtime));
}

/// Tasks are not polled for their lines unless the user asks for that.
fn how_to_get_lines(runtimes: &[Arc<Scheduler>]) -> String {
    let is_waiting = |task: TaskInfo| task.state == TaskState::Waiting;
    let any_waits = |runtime: &Arc<Scheduler>| Tasks::of(SchedulerRef::new(runtime.clone())).any(is_waiting);
    if !sites::are_known() || !runtimes.iter().any(any_waits) {
        return String::new();
    }
    let asks = runtimes.iter().any(|runtime| runtime.config.debug.asks);
    let command = if asks { format!("`cargo gmp tasks --lines {}`, or ", std::process::id()) } else { String::new() };
    format!("the lines at which tasks wait: {command}GMP_DEBUG=sigquit=lines at the start\n")
}

pub(super) fn answer_to(asker: Asker, form: Form) -> io::Result<()> {
    let runtimes = runtimes();
    let mut out = io::BufWriter::new(asker);
    out.write_all(GREETING)?;
    // The asker asks again until then, and the lines take a while.
    out.flush()?;
    match form {
        Form::Json => write_json(&runtimes, &mut out)?,
        Form::Text => out.write_all(text(&runtimes).as_bytes())?,
        Form::Lines => out.write_all(text_of(&runtimes, Tasks::groups_with_sites).as_bytes())?,
        Form::Blocked => out.write_all(blocked(&runtimes).as_bytes())?,
    }
    out.write_all(END)?;
    out.flush()
}

/// What has held threads so far.
fn blocked(runtimes: &[Arc<Scheduler>]) -> String {
    let section = |(index, runtime): (usize, &Arc<Scheduler>)| {
        let name = runtime.config.name.as_deref().map_or_else(String::new, |name| format!(" {name:?}"));
        let report = runtime.observers.blocked.report().to_string();
        let is_looked_at = runtime.config.sysmon || runtime.config.is_watched;
        let nothing = if is_looked_at { NOTHING_HELD } else { NOT_WATCHED };
        let text = if report.is_empty() { nothing } else { &report };
        format!("runtime {}{name}:\n{}", index + 1, indented(text))
    };
    match runtimes {
        [] => "no runtime\n".to_owned(),
        _ => runtimes.iter().enumerate().map(section).collect(),
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn text(runtimes: &[Arc<Scheduler>]) -> String {
    text_of(runtimes, Tasks::groups)
}

fn text_of(runtimes: &[Arc<Scheduler>], groups: fn(Tasks) -> TaskGroups) -> String {
    let section = |(index, runtime): (usize, &Arc<Scheduler>)| {
        let name = runtime.config.name.as_deref().map_or_else(String::new, |name| format!(" {name:?}"));
        let tasks = || Tasks::of(SchedulerRef::new(runtime.clone()));
        // Before tasks are polled for their lines.
        let tree = beginning(&tasks().tree());
        format!("runtime {}{name}: {}{tree}", index + 1, groups(tasks()))
    };
    match runtimes {
        [] => "no runtime\n".to_owned(),
        _ => runtimes.iter().enumerate().map(section).collect::<String>() + &OfProcess::look().to_string(),
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
    OfProcess::look().json().try_for_each(|line| writeln!(out, "{line}"))
}

fn prefixed(text: &str) -> String {
    text.lines().map(|line| format!("gmp: {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::prefixed;

    #[test]
    fn each_line_says_where_it_comes_from() {
        assert_eq!(prefixed("1 task\n  1 waiting\n"), "gmp: 1 task\ngmp:   1 waiting\n");
    }
}
