//! Writing what `GMP_TRACE` asks for: a file at the end of the runtime, or one each time that
//! something has gone wrong, or files with everything (`roll`).
//!
//! A thread of its own ("gmp-trace") writes the files. It sleeps until something is requested, or a
//! poll that it was told of has lasted for too long. The thread in which something went wrong only
//! puts a request into a channel.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use super::recording::Recording;
use super::request::Request;
use super::roll;
use super::settings::Settings;
use super::snapshot::Snapshot;
use super::stuck::{StuckPoll, StuckPolls};
use crate::escaped::Escaped;
use crate::sched::state::machine::Machine;
use crate::sched::{Scheduler, SchedulerRef};
use crate::sync::{Arc, Mutex};

/// More files than this are not written: what goes wrong all the time would fill the disk.
const MOST_FILES: usize = 10;

/// Files of one runtime.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) settings: Settings,
    pub(super) recording: Arc<Recording>,
    requests: Mutex<Sender<Request>>,
    /// How many files there are. Held while one is written.
    written: Mutex<usize>,
}

/// Records the runtime as `GMP_TRACE` says.
///
/// # Errors
///
/// Fails if the system has no thread to give.
pub(crate) fn start(scheduler: &Arc<Scheduler>, settings: Settings) -> io::Result<()> {
    let (sender, receiver) = channel();
    let recording = Recording::new(settings.size, settings.roll.map(|_| sender.clone()));
    scheduler.observers.recorded.start(recording.clone());
    let files = Files { settings, recording, requests: Mutex::new(sender), written: Mutex::new(0) };
    let is_first = scheduler.observers.recorded.files.set(files).is_ok();
    debug_assert!(is_first, "a runtime is built once");
    let threads = scheduler.config.threads.with_usual_stack();
    let for_thread = scheduler.clone();
    let body = move || serve(&for_thread, receiver);
    scheduler.all_machines.start(&threads, "gmp-trace".to_owned(), Machine::new(0), body)
}

fn serve(scheduler: &Arc<Scheduler>, requests: Receiver<Request>) {
    let Some(files) = scheduler.observers.recorded.files.get() else { return };
    match files.settings.roll {
        Some(limit) => roll::serve(files, scheduler, &requests, limit),
        None => write_on_request(files, scheduler, &requests),
    }
}

fn write_on_request(files: &Files, scheduler: &Arc<Scheduler>, requests: &Receiver<Request>) {
    let limit = files.settings.on_take.unwrap_or(Duration::MAX);
    let mut stuck = StuckPolls::new(limit);
    loop {
        match next(requests, stuck.next()) {
            None | Some(Request::HalfFull) => {}
            Some(Request::Stuck(poll)) => stuck.add(poll),
            Some(Request::Panic(task)) => files.write(scheduler, &format!("task {task} has panicked")),
            Some(Request::End) => return files.end(scheduler),
        }
        for poll in stuck.take_due(Instant::now()) {
            files.write(scheduler, &format!("task {} has held its thread for {limit:?}", poll.task));
        }
    }
}

/// The next request; `None`: there was none until then.
fn next(requests: &Receiver<Request>, until: Option<Instant>) -> Option<Request> {
    let Some(until) = until else { return Some(requests.recv().unwrap_or(Request::End)) };
    match requests.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(request) => Some(request),
        Err(RecvTimeoutError::Timeout) => None,
        Err(RecvTimeoutError::Disconnected) => Some(Request::End),
    }
}

impl Files {
    pub(super) fn wants_stuck_polls(&self) -> bool {
        self.settings.on_take.is_some()
    }

    pub(super) fn note_stuck(&self, poll: StuckPoll) {
        if self.wants_stuck_polls() {
            self.request(Request::Stuck(poll));
        }
    }

    pub(super) fn note_panic(&self, task: u64) {
        if self.settings.on_panic {
            self.request(Request::Panic(task));
        }
    }

    pub(super) fn note_end(&self) {
        self.request(Request::End);
    }

    /// On the thread that answers SIGQUIT.
    pub(super) fn note_sigquit(&self, scheduler: &Arc<Scheduler>) {
        if self.settings.on_sigquit {
            self.write(scheduler, "SIGQUIT");
        }
    }

    pub(super) fn end(&self, scheduler: &Arc<Scheduler>) {
        if self.settings.is_for_end() {
            self.write(scheduler, "the runtime ends");
        }
        // The file that the thread for SIGQUIT writes is finished first.
        drop(self.written.lock());
    }

    fn request(&self, request: Request) {
        // After the end nothing is written.
        let _ = self.requests.lock().send(request);
    }

    /// Says on standard error what was written, and why.
    fn write(&self, scheduler: &Arc<Scheduler>, reason: &str) {
        let mut written = self.written.lock();
        if *written >= MOST_FILES {
            return;
        }
        *written += 1;
        let snapshot = Snapshot::of(&self.recording, &SchedulerRef::new(scheduler.clone()));
        let path = self.path(*written);
        match File::create(&path).and_then(|file| snapshot.write_perfetto(BufWriter::new(file))) {
            Ok(()) => {
                let seconds = snapshot.duration().as_secs_f64();
                say(&format!("{reason}: the last {seconds:.3} s are in {}{}", path.display(), missing(&snapshot)));
            }
            Err(error) => say(&format!("can't write {}: {error}", path.display())),
        }
        if *written == MOST_FILES && !self.settings.is_for_end() {
            say(&format!("these were {MOST_FILES} files; no more are written"));
        }
    }

    /// `a.pftrace`, `a-2.pftrace`, `a-3.pftrace`, ...
    fn path(&self, number: usize) -> PathBuf {
        let file = &self.settings.file;
        if number == 1 { file.clone() } else { with_suffix(file, &format!("-{number}")) }
    }
}

/// What a reader of the file must know.
fn missing(snapshot: &Snapshot) -> String {
    match snapshot.overwritten() {
        0 => String::new(),
        events => {
            let seconds = snapshot.complete().as_secs_f64();
            format!(
                "; all threads' events are there for the last {seconds:.3} s, {events} earlier ones are overwritten"
            )
        }
    }
}

/// Puts the suffix before the extension.
pub(super) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(suffix);
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

/// One write, so that the line does not mix with a panic's message. Nothing can be done about a
/// closed stderr.
pub(super) fn say(line: &str) {
    let _ = io::stderr().write_all(format!("gmp: {}\n", Escaped(line)).as_bytes());
}
