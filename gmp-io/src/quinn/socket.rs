//! A UDP socket for quinn.
//!
//! quinn-udp makes the system calls, in batches; this file does the waiting. One task receives, but
//! every connection of an endpoint sends, and each must be woken when there is room. So receiving
//! uses the slot for one task, and each [`Writable`] has an entry of its own among the socket's
//! waiters.

use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::{self, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};

use crate::io::Interest;
use crate::net::UdpSocket;

#[derive(Debug)]
pub(super) struct QuicSocket {
    io: UdpSocket,
    state: UdpSocketState,
}

impl QuicSocket {
    /// Sets the options that QUIC needs on the socket, including non-blocking mode.
    pub(super) fn new(socket: net::UdpSocket) -> io::Result<QuicSocket> {
        let state = UdpSocketState::new((&socket).into())?;
        Ok(QuicSocket { io: UdpSocket::from_std(socket)?, state })
    }
}

impl AsyncUdpSocket for QuicSocket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Writable { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.io.try_io(Interest::WRITABLE, || self.state.send((&self.io).into(), transmit))
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            match self.io.try_io(Interest::READABLE, || self.state.recv((&self.io).into(), bufs, meta)) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return Poll::Ready(result),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

/// A sender's wait for room.
struct Writable {
    socket: Arc<QuicSocket>,
    waiting: Option<Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>>,
}

impl UdpPoller for Writable {
    fn poll_writable(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Writable { socket, waiting } = self.get_mut();
        let wait = waiting.get_or_insert_with(|| {
            let socket = socket.clone();
            Box::pin(async move { socket.io.writable().await })
        });
        let result = ready!(wait.as_mut().poll(cx));
        *waiting = None;
        Poll::Ready(result)
    }
}

impl fmt::Debug for Writable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writable").field("socket", &self.socket).finish_non_exhaustive()
    }
}
