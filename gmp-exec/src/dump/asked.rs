//! A question from outside: `cargo gmp tasks PID` sends SIGURG, and the answer goes to that process
//! (`asker`).
//!
//! Until then a process has a handler of that signal, and nothing else: no thread, no descriptor.
//! The handler starts the thread that answers, if it has interrupted a thread that sleeps for lack of
//! work (`sys::sigurg`); the thread ends with the answer. Otherwise the handler does nothing, and the
//! asker sends the signal again, or to another thread. sysmon sleeps nearly all of the time, so it
//! answers while every machine is stuck. The only thread of a current-thread runtime may be stuck
//! itself. Then only a thread that was there before can answer, which `GMP_DEBUG=sigquit=1` starts.
//!
//! Rejected: a thread that waits, which every process would have; a socket, which is a descriptor
//! that every process would have, and which nothing reads while all machines are stuck.

use std::hint::black_box;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use super::asker::{Asker, Question};
use super::quit::answer_to;
use super::{recording, signal};
use crate::sys::environment::has_more_rights_than_its_caller;
use crate::sys::sigaction;
use crate::sys::sigurg::{self, Sent};

/// By these bytes in a program's file the asker knows that gmp is in it: a signal is sent to no other
/// program.
static MARK: &str = "\u{7f}gmp answers SIGURG, 1";

/// One answer at a time: an asker that has asked twice ignores the second one, which must not begin
/// before the first has ended.
static ANSWERING: Mutex<()> = Mutex::new(());

/// From now on the process may be asked, unless it handles or ignores the signal itself, or has rights
/// that the asker may not have.
pub(super) fn listen() {
    // Once: tests build thousands of runtimes, and the look at the handler is a system call.
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        if cfg!(target_os = "linux") && !has_more_rights_than_its_caller() {
            black_box(MARK);
            let _ = sigurg::install(&sigurg::QUESTIONS, on_question);
        }
    });
}

/// Runs in a signal handler.
fn on_question(sent: &Sent) {
    let Some(sender) = sent.by_process else { return };
    let is_passed_on = signal::pass_on(sender);
    if !is_passed_on && sigurg::is_asleep() {
        // If the system has no thread to give, the asker is told nothing, and says so.
        let _ = thread::Builder::new().name("gmp-dump".to_owned()).spawn(move || answer(sender));
    }
}

pub(super) fn answer(sender: i32) {
    // An asker that has gone must not end a program that has the default for this signal.
    sigaction::block_in_this_thread(libc::SIGPIPE);
    let _answering = ANSWERING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(asker) = Asker::find(sender) else { return };
    match asker.question {
        Question::Recording(time) => recording::start(sender, asker, time),
        // Nothing can be done about an asker that has gone.
        Question::Dump(form) => drop(answer_to(asker, form)),
    }
}
