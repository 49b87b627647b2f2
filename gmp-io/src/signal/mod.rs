//! Signals that tasks wait for.
//!
//! A signal handler interrupts any thread at any point and may do next to nothing; a task that
//! waits for a signal is woken by a scheduler. A flag per kind of signal and one pipe per process
//! connect the two:
//!
//! ```text
//! handler: set the flag of the kind, write a byte into the pipe
//! reactor: pipe readable → empty the pipe → for each flag that is set:
//!          clear the flag, increment the version, take the wakers
//! ```
//!
//! The rule: **the pipe says that a signal has come, the flags say which.** So nothing is lost if
//! the pipe is full or another reactor has read a byte: the reactor that reads the last byte looks
//! at the flags afterwards, and the flag was set first.
//!
//! Each runtime in which a task waits for a signal watches the pipe. The first reactor to see the
//! byte notifies the listeners of all runtimes, so no runtime depends on another one being alive or
//! idle. Reactors do this, not tasks, so that no hidden task is counted, and a runtime without
//! listeners does not notice signals.
//!
//! Rejected: a pipe for each runtime, because the handler would have to walk a list that changes;
//! and a `signalfd`, because it only receives signals that all threads block, and threads of other
//! libraries don't.
//!
//! # Which signals are lost
//!
//! As on tokio, and on Unix itself, signals of one kind in quick succession are merged: all that
//! come between two calls of [`recv`](unix::Signal::recv) are reported once. A
//! [`Signal`](unix::Signal) does not see signals from before it was made.
//!
//! # Handlers stay
//!
//! The first [`signal`](unix::signal) of a kind installs a handler, **which stays for the rest of
//! the process**: dropping the [`Signal`](unix::Signal) does not restore the default action. After
//! a program has once waited for Ctrl-C, Ctrl-C no longer ends it.
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
pub(crate) mod table;
pub mod unix;

pub use ctrl_c::ctrl_c;
pub(crate) use handler::install;
