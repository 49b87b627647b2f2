//! Child processes that tasks wait for.
//!
//! [`Command`] is the standard library's with tokio's `spawn`, `status` and `output`. Waiting for a
//! [`Child`] and reading and writing its pipes does not block.
//!
//! # How an exit is noticed
//!
//! Unix notifies a parent with a signal. Several such signals are merged, and they don't say which
//! child has exited. Linux also has a descriptor for a process, which becomes readable. Each
//! running child is watched through such a descriptor. Where there is none (another system, an old
//! kernel, a sandbox, no descriptors left), the child is polled after each SIGCHLD instead. The
//! descriptors needed for that are made with the first reactor, so **no child is lost for lack of a
//! descriptor**.
//!
//! # Dropped children
//!
//! A child that has exited is a zombie until its parent asks for its status, even if the parent has
//! dropped the [`Child`]. So a dropped child that is still running is handed to a thread. The
//! thread sleeps until a SIGCHLD comes, polls each of the dropped children, and ends when none is
//! left. (If there were no descriptors left for the pipe of that thread, each such child has a thread.)
//! **Dropped children belong to the process and not to a runtime**, so none of them stays a
//! zombie for long if the runtime that started it is gone or busy, and there is no other. A program
//! that drops no running children has no such thread.
//!
//! Rejected: polling in the reactors, as tokio does, because a program may have no runtime left, or
//! one that is not running; and a hidden task, which would be counted among the program's own and
//! end with its runtime.
//!
//! # Inheritance
//!
//! A child that asks for a signal when its parent ends (Linux: `PR_SET_PDEATHSIG`) gets it when the
//! *thread* that started it ends. Threads of a runtime that are idle for long end, so the thread
//! that has started a child stays until the child has exited or the runtime ends.
//!
//! As with the standard library, a child inherits its three standard descriptors and no others, and
//! the mask of blocked signals of the thread that calls `spawn`, but no signal handlers.
//!
//! # Examples
//!
//! ```
//! # gmp_exec::runtime::Runtime::new()?.block_on(async {
//! use std::process::Stdio;
//!
//! use gmp_io::process::Command;
//! use tokio::io::AsyncWriteExt;
//!
//! let mut sort = Command::new("sort").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
//! let mut stdin = sort.stdin.take().expect("it is piped");
//! stdin.write_all(b"pear\napple\n").await?;
//! drop(stdin);
//!
//! let output = sort.wait_with_output().await?;
//! assert_eq!(output.stdout, b"apple\npear\n");
//! # std::io::Result::Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```

mod child;
mod collect;
mod command;
mod exit;
mod orphans;
mod pipes;
mod pre_exec;
mod running;

pub use child::Child;
pub use command::Command;
pub use pipes::{ChildStderr, ChildStdin, ChildStdout};
