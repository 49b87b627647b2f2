//! The pipes to and from a child: the ends of [`pipe`](crate::net::unix::pipe) under tokio's names.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::process::{self, Stdio};
use std::task::{Context, Poll};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::io::{AsyncRead, AsyncWrite, ReadBuf};
use crate::net::unix::pipe::{Receiver, Sender};

/// A pipe, and the methods of all three.
macro_rules! pipe {
    ($(#[$doc:meta])* $pipe:ident, $end:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $pipe {
            end: $end,
        }

        impl $pipe {
            /// Takes over a pipe of the standard library, which becomes non-blocking.
            ///
            /// # Errors
            ///
            /// The system can't make the descriptor non-blocking or register it.
            ///
            /// # Panics
            ///
            /// If there is no current runtime, or if its I/O is not enabled.
            #[track_caller]
            pub fn from_std(inner: process::$pipe) -> io::Result<Self> {
                // The descriptor need not be a pipe: the standard library converts any descriptor
                // into its type.
                let flags = fcntl_getfl(&inner)?;
                fcntl_setfl(&inner, flags | OFlags::NONBLOCK)?;
                Ok($pipe { end: $end::from_owned_fd_unchecked(inner.into())? })
            }

            /// Returns the descriptor and makes it blocking, as a program that inherits it expects.
            ///
            /// # Errors
            ///
            /// The system can't deregister the descriptor or make it blocking.
            pub fn into_owned_fd(self) -> io::Result<OwnedFd> {
                self.end.into_blocking_fd()
            }
        }

        impl TryFrom<$pipe> for Stdio {
            type Error = io::Error;

            /// Converts the pipe, which becomes blocking, into the standard input, output or error
            /// of another child.
            fn try_from(pipe: $pipe) -> io::Result<Stdio> {
                pipe.into_owned_fd().map(Stdio::from)
            }
        }

        impl AsFd for $pipe {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.end.as_fd()
            }
        }

        impl AsRawFd for $pipe {
            fn as_raw_fd(&self) -> RawFd {
                self.end.as_raw_fd()
            }
        }
    };
}

/// A pipe that is read.
macro_rules! pipe_from_child {
    ($(#[$doc:meta])* $pipe:ident) => {
        pipe! { $(#[$doc])* $pipe, Receiver }

        impl $pipe {
            pub(super) fn into_receiver(self) -> Receiver {
                self.end
            }
        }

        impl AsyncRead for $pipe {
            fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
                Pin::new(&mut self.end).poll_read(cx, buf)
            }
        }
    };
}

pipe! {
    /// The pipe to a child's standard input. Dropping the pipe ends the child's input.
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
    ChildStdin, Sender
}

pipe_from_child! {
    /// The pipe from a child's standard output.
    ///
    /// # Examples
    ///
    /// The pipe can become the standard input of the next child:
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
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.end).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.end).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.end.is_write_vectored()
    }

    /// Ready at once: bytes that were written are with the system.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.end).poll_flush(cx)
    }

    /// Ready at once, and does nothing: a pipe is closed by dropping it.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.end).poll_shutdown(cx)
    }
}
