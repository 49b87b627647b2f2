//! The public methods that wait for readiness or run an operation of the caller's: what all sockets
//! share.
//!
//! They are for code that does the operation itself, or that reads and writes in one task. The
//! pattern is always the same: wait until ready, try, and start over on `WouldBlock`, because
//! readiness is a hint.
//!
//! Macros and not a trait, because tokio has these as methods of the types, which need no import.
//! They hold docs and calls; the code is [`Evented`](crate::reactor::Evented)'s. A type that uses
//! them has a field `io: Evented<_>`. Each macro takes the type and the noun for it in the docs.
//! The names of the `poll_*` methods are parameters, because streams are read and datagrams are
//! received.

/// All methods, for a type that goes in both directions:
/// `readiness_methods! { TcpStream, "connection", poll_read_ready, poll_write_ready }`.
macro_rules! readiness_methods {
    ($type:ty, $what:literal, $poll_readable:ident, $poll_writable:ident) => {
        crate::net::readiness::ready_method! { $type, $what }
        crate::net::readiness::readable_methods! { $type, $poll_readable }
        crate::net::readiness::writable_methods! { $type, $poll_writable }

        impl $type {
            #[doc = concat!("Runs `f` once if the ", $what, " is thought to be ready for part of `interest`.")]
            ///
            /// `f` does an operation of its own on the descriptor. `f` must not block, and must
            /// return `WouldBlock` if and only if the descriptor was not ready: that clears the
            /// readiness.
            ///
            /// # Errors
            ///
            #[doc = concat!("`WouldBlock` if the ", $what, " is not ready; else the error that `f` returns.")]
            pub fn try_io<R>(
                &self,
                interest: crate::io::Interest,
                f: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.try_io(interest, |_| f())
            }

            #[doc = concat!(
                                "Runs `f` until it does not return `WouldBlock`, and waits before each run until the ",
                                $what,
                                " is ready for part of `interest`."
                            )]
            ///
            /// `f` does an operation of its own on the descriptor. `f` must not block, and must
            /// return `WouldBlock` if and only if the descriptor was not ready.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down; else the error that `f` returns, except
            /// `WouldBlock`.
            ///
            /// # Cancel safety
            ///
            /// `f` is run to its end or not at all, so nothing is lost.
            pub async fn async_io<R>(
                &self,
                interest: crate::io::Interest,
                mut f: impl FnMut() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.async_io(interest, |_| f()).await
            }
        }
    };
}

/// `ready`.
macro_rules! ready_method {
    ($type:ty, $what:literal) => {
        impl $type {
            #[doc = concat!("Waits until the ", $what, " is ready for part of `interest`, and says for which.")]
            ///
            /// Any number of tasks may wait at the same time.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            ///
            /// # Cancel safety
            ///
            /// Nothing is lost: readiness stays until an operation finds `WouldBlock`.
            pub async fn ready(&self, interest: crate::io::Interest) -> std::io::Result<crate::io::Ready> {
                self.io.ready(interest).await
            }
        }
    };
}

/// `readable` and its `poll_*` form.
macro_rules! readable_methods {
    ($type:ty, $poll_readable:ident) => {
        impl $type {
            /// Waits until there is something to read, or the other side has stopped writing.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            ///
            /// # Cancel safety
            ///
            /// Nothing is lost: readiness stays until an operation finds `WouldBlock`.
            pub async fn readable(&self) -> std::io::Result<()> {
                self.io.readable().await
            }

            /// Polls for something to read. If there is nothing, the task is woken later.
            ///
            /// Of several tasks that call this or another `poll_*` method that reads, only the last
            /// one is woken. Any number of tasks may wait with `readable`.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            pub fn $poll_readable(&self, cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_read_ready(cx)
            }
        }
    };
}

/// `writable` and its `poll_*` form.
macro_rules! writable_methods {
    ($type:ty, $poll_writable:ident) => {
        impl $type {
            /// Waits until there is room to write, or writing fails at once.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            ///
            /// # Cancel safety
            ///
            /// Nothing is lost: readiness stays until an operation finds `WouldBlock`.
            pub async fn writable(&self) -> std::io::Result<()> {
                self.io.writable().await
            }

            /// Polls for room to write. If there is none, the task is woken later.
            ///
            /// Of several tasks that call this or another `poll_*` method that writes, only the
            /// last one is woken. Any number of tasks may wait with `writable`.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            pub fn $poll_writable(&self, cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>> {
                self.io.poll_write_ready(cx)
            }
        }
    };
}

pub(crate) use readable_methods;
pub(crate) use readiness_methods;
pub(crate) use ready_method;
pub(crate) use writable_methods;
