//! Child processes, as tasks wait for them.
//!
//! [`Command`] is the standard library's with tokio's `spawn`, `status` and `output`; a [`Child`] is waited for, and its
//! pipes are read and written, without blocking.
//!
//! # How an exit is noticed
//!
//! Unix tells a parent by a signal, of which several are one, and which says nothing about who has exited; Linux also has
//! a descriptor for a process, which becomes readable. Each running child is watched through such a descriptor of its own.
//! Where there is none (another system, an old kernel, a sandbox, no descriptors left) this child is asked after each
//! SIGCHLD instead. What that needs in descriptors is made before the first child is, so that **a child that has been
//! started is never lost for want of a descriptor**.
//!
//! # What becomes of a child that nobody waits for
//!
//! A child that has exited is a zombie until its parent asks for its status, also if the parent has dropped the [`Child`].
//! So a dropped child that is still running goes to a thread that asks for it: it sleeps until a SIGCHLD comes, asks after
//! each of the dropped children, and ends when there is none left. **Dropped children belong to the process and not to
//! a runtime**, hence none of them becomes a zombie for long if the runtime that started it is gone, or is busy, or if
//! there is no other; and while a program drops no running children, there is no such thread.
//!
//! Rejected: asking in the reactors, as tokio does, because a program may have no runtime left, or one that is not running;
//! and a hidden task, which would be counted among the program's own and end with its runtime.
//!
//! # What a child inherits
//!
//! A child that wants a signal when its parent ends (Linux: `PR_SET_PDEATHSIG`) gets it when the
//! *thread* ends that has started it. Threads of a runtime that are idle for long end, so the one
//! that has started a child stays until the child has exited, or the runtime ends.
//!
//! As with the standard library: no descriptors but its three standard ones, the mask of blocked signals of the thread that
//! calls `spawn`, and no handlers.
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
