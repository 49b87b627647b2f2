//! [`AsyncFd`], for descriptors that this crate has no type for.

mod async_fd;

#[allow(deprecated, reason = "tokio still has the old name")]
pub use async_fd::AsyncFdTryNewError;
pub use async_fd::{AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard, AsyncFdRegisterError, TryIoError};
