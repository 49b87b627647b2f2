//! The pipes to and from a child, as seen from this process.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::process::{self, Stdio};
use std::task::{Context, Poll};

use rustix::io::ioctl_fionbio;

use crate::io::{AsyncRead, AsyncWrite, ReadBuf, uninit};
use crate::reactor::{Attempt, Direction, Evented};

/// What the three have in common.
macro_rules! pipe {
    ($(#[$doc:meta])* $pipe:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $pipe {
            io: Evented<OwnedFd>,
        }

        impl $pipe {
            /// Takes over a pipe of the standard library, which becomes non-blocking.
            ///
            /// # Errors
            ///
            /// The system can't make it non-blocking, or can't register it.
            ///
            /// # Panics
            ///
            /// If there is no current runtime, or if its I/O is not enabled.
            #[track_caller]
            pub fn from_std(inner: process::$pipe) -> io::Result<Self> {
                let inner = OwnedFd::from(inner);
                ioctl_fionbio(&inner, true)?;
                Ok($pipe { io: Evented::new(inner)? })
            }

            /// Gives the descriptor back, blocking again: a program that inherits it expects that.
            ///
            /// # Errors
            ///
            /// The system can't deregister it, or can't make it blocking.
            pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
                let fd = self.io.into_io()?;
                ioctl_fionbio(&fd, false)?;
                Ok(fd)
            }
        }

        impl TryFrom<$pipe> for Stdio {
            type Error = io::Error;

            /// The pipe as the standard input, output or error of another child, blocking again.
            fn try_from(pipe: $pipe) -> io::Result<Stdio> {
                pipe.into_owned_fd().map(Stdio::from)
            }
        }

        impl AsFd for $pipe {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.io.io().as_fd()
            }
        }

        impl AsRawFd for $pipe {
            fn as_raw_fd(&self) -> RawFd {
                self.io.io().as_raw_fd()
            }
        }
    };
}

/// What the two that are read have in common.
macro_rules! pipe_from_child {
    ($(#[$doc:meta])* $pipe:ident) => {
        pipe! { $(#[$doc])* $pipe }

        impl $pipe {
            pub(super) fn into_pipe(self) -> Evented<OwnedFd> {
                self.io
            }
        }

        impl AsyncRead for $pipe {
            fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
                self.io.registration().poll_io(cx, Direction::Read, || {
                    let room = buf.remaining();
                    let n = uninit::read(self.io.io(), buf)?;
                    Ok(Attempt::moved(n, room, ()))
                })
            }
        }
    };
}

pipe! {
    /// The pipe to a child's standard input. The child sees its end when this is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::process::Stdio;
    ///
    /// use gmp_io::process::Command;
    /// use tokio::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    /// let (mut stdin, mut stdout) = (cat.stdin.take().unwrap(), cat.stdout.take().unwrap());
    /// stdin.write_all(b"ping").await?;
    /// let mut answer = [0; 4];
    /// stdout.read_exact(&mut answer).await?;
    /// assert_eq!(&answer, b"ping");
    ///
    /// drop(stdin);
    /// assert!(cat.wait().await?.success());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    ChildStdin
}

pipe_from_child! {
    /// The pipe from a child's standard output.
    ///
    /// # Examples
    ///
    /// It may become the standard input of the next child:
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use std::process::Stdio;
    ///
    /// use gmp_io::process::Command;
    ///
    /// let mut echo = Command::new("echo").arg("hello").stdout(Stdio::piped()).spawn()?;
    /// let between: Stdio = echo.stdout.take().unwrap().try_into()?;
    /// let output = Command::new("tr").args(["a-z", "A-Z"]).stdin(between).output().await?;
    /// assert_eq!(output.stdout, b"HELLO\n");
    /// assert!(echo.wait().await?.success());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    ChildStdout
}

pipe_from_child! {
    /// The pipe from a child's standard error.
    ChildStderr
}

impl AsyncWrite for ChildStdin {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.registration().poll_io(cx, Direction::Write, || {
            let n = rustix::io::write(self.io.io(), buf)?;
            Ok(Attempt::moved(n, buf.len(), n))
        })
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io
            .registration()
            .poll_io(cx, Direction::Write, || Ok(Attempt::Done(rustix::io::writev(self.io.io(), bufs)?)))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Done at once: what was written is with the system.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Done at once, and does nothing: a pipe has no direction to close, it is closed by its drop.
    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Reads into the spare room of `bytes`. Returns the number of bytes; 0 is the end.
pub(super) fn poll_read_into(
    pipe: &Evented<OwnedFd>,
    cx: &mut Context<'_>,
    bytes: &mut Vec<u8>,
) -> Poll<io::Result<usize>> {
    pipe.registration().poll_io(cx, Direction::Read, || {
        let room = bytes.capacity() - bytes.len();
        let n = rustix::io::read(pipe.io(), rustix::buffer::spare_capacity(bytes))?;
        Ok(Attempt::moved(n, room, n))
    })
}
