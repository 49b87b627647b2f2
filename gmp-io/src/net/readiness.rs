//! Waiting for readiness, and operations of the caller's own: the methods that all sockets have.
//!
//! For code that does the operation itself, or reads and writes from one task without `select!`. The pattern is always the
//! same: wait until ready, try, and start over on `WouldBlock`, because readiness is a hint.
//!
//! Written as macros and not as a trait, because tokio has them as methods of the types, which need no import. A type that
//! uses them has a field `io: Evented<_>`. Each takes the type and what its docs call it; the names of the two `poll_*`
//! methods are the type's own, because streams are read and datagrams are received.

/// All of them, for what goes in both directions: `readiness_methods! { TcpStream, "connection", poll_read_ready, poll_write_ready }`.
macro_rules! readiness_methods {
    ($type:ty, $what:literal, $poll_readable:ident, $poll_writable:ident) => {
        crate::net::readiness::ready_method! { $type, $what }
        crate::net::readiness::readable_methods! { $type, $poll_readable }
        crate::net::readiness::writable_methods! { $type, $poll_writable }

        impl $type {
            #[doc = concat!("Runs `f` once if the ", $what, " is thought to be ready for part of `interest`.")]
            ///
            /// `f` does an operation of its own on the descriptor. It must not block, and it must return `WouldBlock` when the
            /// descriptor was not ready and only then: that is what takes the readiness away.
            ///
            /// # Errors
            ///
            #[doc = concat!("`WouldBlock` if the ", $what, " is not ready; else what `f` returns.")]
            pub fn try_io<R>(
                &self,
                interest: crate::io::Interest,
                f: impl FnOnce() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.registration().try_io(interest, f)
            }

            #[doc = concat!(
                "Runs `f` as often as it takes, waiting until the ", $what, " is ready for part of `interest` in between."
            )]
            ///
            /// `f` does an operation of its own on the descriptor. It must not block, and it must return `WouldBlock` when the
            /// descriptor was not ready and only then.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down; else what `f` returns, `WouldBlock` excepted.
            ///
            /// # Cancel safety
            ///
            /// `f` is run to its end or not at all, so nothing is lost.
            pub async fn async_io<R>(
                &self,
                interest: crate::io::Interest,
                f: impl FnMut() -> std::io::Result<R>,
            ) -> std::io::Result<R> {
                self.io.registration().async_io(interest, f).await
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
                Ok(self.io.registration().readiness(interest).await?.ready)
            }
        }
    };
}

/// `readable` and its `poll_*` form, on top of `ready`.
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
                self.ready(crate::io::Interest::READABLE).await.map(drop)
            }

            /// Whether there is something to read. If not, the task is woken when there is.
            ///
            /// Of several tasks that call this or another `poll_*` method that reads, only the last one is woken; for more,
            /// use `readable`.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            pub fn $poll_readable(&self, cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>> {
                self.io.registration().poll_ready(cx, crate::reactor::Direction::Read).map_ok(drop)
            }
        }
    };
}

/// `writable` and its `poll_*` form, on top of `ready`.
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
                self.ready(crate::io::Interest::WRITABLE).await.map(drop)
            }

            /// Whether there is room to write. If not, the task is woken when there is.
            ///
            /// Of several tasks that call this or another `poll_*` method that writes, only the last one is woken; for more,
            /// use `writable`.
            ///
            /// # Errors
            ///
            /// The runtime is being shut down.
            pub fn $poll_writable(&self, cx: &mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<()>> {
                self.io.registration().poll_ready(cx, crate::reactor::Direction::Write).map_ok(drop)
            }
        }
    };
}

pub(crate) use readable_methods;
pub(crate) use readiness_methods;
pub(crate) use ready_method;
pub(crate) use writable_methods;
