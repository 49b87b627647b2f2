//! The runtime that quinn requires.

use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use gmp_exec::time;
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime};

use super::socket::QuicSocket;
use super::timer::QuicTimer;

/// Runs quinn's endpoints and connections on the current gmp runtime, with its timers and clock.
///
/// # Panics
///
/// Making an endpoint panics if there is no current runtime, or if its I/O is not enabled.
/// Connecting panics if timers are not enabled.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct GmpRuntime;

impl GmpRuntime {
    /// Makes a runtime for quinn, which has no state.
    pub fn new() -> Self {
        GmpRuntime
    }
}

impl Runtime for GmpRuntime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(QuicTimer::new(deadline))
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        gmp_exec::spawn(future);
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        Ok(Arc::new(QuicSocket::new(socket)?))
    }

    fn now(&self) -> Instant {
        time::Instant::now().into_std()
    }
}
