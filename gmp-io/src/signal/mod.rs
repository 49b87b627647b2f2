//! Signals, as tasks wait for them.
//!
//! A signal handler interrupts any thread anywhere and may do next to nothing; a task that waits for a signal wants to be
//! woken by a scheduler. Between the two there is one flag per kind of signal and one pipe, for the whole process:
//!
//! ```text
//! handler: set the kind's flag, write a byte into the pipe
//! reactor: readable → empty the pipe → for each flag that is set: clear it, one version more, take the wakers
//! ```
//!
//! The rule: **the pipe says that something has come, the flags say what.** So a pipe that is full, or a byte that another
//! reactor has read, loses nothing: whoever reads the last byte looks at the flags afterwards, and the flag was set first.
//!
//! Each runtime in which somebody waits for a signal watches the pipe, and the first one to see the byte tells everybody, whatever runtime they wait in. Hence no runtime depends on another one being alive or
//! having time. It is the reactor that does this and not a task, so nobody counts a task that they have not spawned, and a
//! runtime in which nobody waits for signals does not notice them.
//!
//! Rejected: a pipe for each runtime, because the handler would have to go through a list that changes; and one `signalfd`,
//! because it takes signals only from threads that block them, and threads of other libraries don't.
//!
//! # What is lost and what is not
//!
//! As on tokio, and on Unix itself, signals of a kind that come in quick succession are one: what has come between two calls
//! of [`recv`](unix::Signal::recv) is reported once. A [`Signal`](unix::Signal) does not see what came before it was made.
//!
//! # What stays
//!
//! The first [`signal`](unix::signal) of a kind installs a handler, **which stays for the rest of the process**: dropping the
//! [`Signal`](unix::Signal) does not bring the default action back. After a program has waited for Ctrl-C once, Ctrl-C ends
//! it no longer.
//!
//! # Examples
//!
//! ```
//! # gmp_exec::runtime::Runtime::new()?.block_on(async {
//! use gmp_io::signal::unix::{SignalKind, signal};
//!
//! let mut hangup = signal(SignalKind::hangup())?;
//! # rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::HUP)?;
//! hangup.recv().await;
//! // Time to read the configuration again.
//! # std::io::Result::Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```

mod ctrl_c;
mod handler;
mod kind;
mod listeners;
pub(crate) mod registry;
pub mod unix;

pub use ctrl_c::ctrl_c;
pub(crate) use handler::install;
