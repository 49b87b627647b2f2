//! Files, sockets, processes and signals for programs that run on [`gmp_exec`].
//!
//! gmp-exec schedules tasks and owns no file descriptor. This crate adds the reactor, which knows
//! which descriptors are ready, and the types that wait for it. Their names and meaning are
//! tokio's, so changing an import is enough. They implement tokio's [`AsyncRead`](io::AsyncRead)
//! and [`AsyncWrite`](io::AsyncWrite), so code that is built on those traits works with them. Only
//! traits and one mutex of tokio are used: no tokio runtime is started.
//!
//! | module | contents |
//! |---|---|
//! | [`net`] | TCP, UDP, Unix sockets, pipes, `lookup_host` |
//! | [`fs`] | `File` and tokio's functions that take paths |
//! | [`io`] | `stdin`, `stdout`, `stderr`; `AsyncFd` for other descriptors; tokio's traits |
//! | [`process`] | `Command`, `Child` and its pipes |
//! | [`signal`] | `ctrl_c`, `unix::signal` |
//! | `hyper` | executor, timer and I/O for hyper, behind the feature `hyper` |
//! | `hyper_util` | connections for hyper-util's client, behind `hyper-util` |
//! | `quinn` | the runtime for quinn, behind `quinn` |
//! | `hickory_resolver` | the runtime for hickory's DNS resolver, behind `hickory-resolver` |
//!
//! # How it works
//!
//! The first descriptor that is registered in a runtime makes the runtime's reactor; a program
//! without I/O has none. From then on the scheduler asks the reactor for ready tasks: now and then
//! while it is busy, and asleep in the kernel when it has nothing else to do. No thread belongs to
//! the reactor. On Linux the reactor also wakes the scheduler for timers, more precisely than
//! epoll's milliseconds allow.
//!
//! Only Unix is supported.
//!
//! # Examples
//!
//! ```
//! use gmp_io::net::{TcpListener, TcpStream};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! let runtime = gmp_exec::runtime::Runtime::new()?;
//! runtime.block_on(async {
//!     let listener = TcpListener::bind("127.0.0.1:0").await?;
//!     let address = listener.local_addr()?;
//!
//!     gmp_exec::spawn(async move {
//!         let (mut stream, _) = listener.accept().await?;
//!         stream.write_all(b"hello").await
//!     });
//!
//!     let mut greeting = String::new();
//!     TcpStream::connect(address).await?.read_to_string(&mut greeting).await?;
//!     assert_eq!(greeting, "hello");
//!     std::io::Result::Ok(())
//! })?;
//! # std::io::Result::Ok(())
//! ```
#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(unix))]
compile_error!("gmp-io supports Unix only");

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod budget;
pub mod fs;
#[cfg(feature = "hickory-resolver")]
pub mod hickory_resolver;
#[cfg(feature = "hyper")]
pub mod hyper;
#[cfg(feature = "hyper-util")]
pub mod hyper_util;
pub mod io;
mod lock;
pub mod net;
pub mod process;
#[cfg(feature = "quinn")]
pub mod quinn;
mod reactor;
pub mod signal;
mod sys;
mod waiting;
