//! The runtime that hickory requires.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use async_trait::async_trait;
use gmp_exec::time;
use hickory_resolver::net::runtime::{DnsUdpSocket, RuntimeProvider, Spawn, Time};
use tokio::io::ReadBuf;

use super::stream::DnsStream;
use crate::net::{TcpSocket, UdpSocket};

/// The default time limit for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

type Opening<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// Runs hickory's resolver on the current gmp runtime.
///
/// # Panics
///
/// A look-up panics if there is no current runtime, or if its I/O or timers are not enabled.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct GmpRuntimeProvider;

impl GmpRuntimeProvider {
    /// Makes a provider, which has no state.
    pub fn new() -> Self {
        GmpRuntimeProvider
    }
}

impl RuntimeProvider for GmpRuntimeProvider {
    type Handle = GmpSpawner;
    type Timer = GmpTime;
    type Udp = UdpSocket;
    type Tcp = DnsStream;

    fn create_handle(&self) -> GmpSpawner {
        GmpSpawner
    }

    fn connect_tcp(
        &self,
        server_addr: SocketAddr,
        bind_addr: Option<SocketAddr>,
        wait_for: Option<Duration>,
    ) -> Opening<DnsStream> {
        Box::pin(async move {
            let socket = if server_addr.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
            if let Some(bind_addr) = bind_addr {
                socket.bind(bind_addr)?;
            }
            // A query is small, and a task waits for the answer.
            socket.set_nodelay(true)?;
            let connected = time::timeout(wait_for.unwrap_or(CONNECT_TIMEOUT), socket.connect(server_addr)).await;
            Ok(DnsStream::new(connected.map_err(timed_out)??))
        })
    }

    fn bind_udp(&self, local_addr: SocketAddr, _server_addr: SocketAddr) -> Opening<UdpSocket> {
        Box::pin(UdpSocket::bind(local_addr))
    }
}

fn timed_out(error: time::error::Elapsed) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, error)
}

/// Spawns hickory's background tasks on the current gmp runtime. They end when the resolver is
/// dropped.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GmpSpawner;

impl Spawn for GmpSpawner {
    fn spawn_bg(&mut self, future: impl Future<Output = ()> + Send + 'static) {
        gmp_exec::spawn(future);
    }
}

/// Runs hickory's timeouts on gmp's timers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GmpTime;

#[async_trait]
impl Time for GmpTime {
    async fn delay_for(duration: Duration) {
        time::sleep(duration).await;
    }

    async fn timeout<F: Future + Send + 'static>(duration: Duration, future: F) -> io::Result<F::Output> {
        time::timeout(duration, future).await.map_err(timed_out)
    }
}

impl DnsUdpSocket for UdpSocket {
    type Time = GmpTime;

    fn poll_recv_from(&self, cx: &mut Context<'_>, buf: &mut [u8]) -> Poll<io::Result<(usize, SocketAddr)>> {
        let mut buf = ReadBuf::new(buf);
        let sender = ready!(UdpSocket::poll_recv_from(self, cx, &mut buf))?;
        Poll::Ready(Ok((buf.filled().len(), sender)))
    }

    fn poll_send_to(&self, cx: &mut Context<'_>, buf: &[u8], target: SocketAddr) -> Poll<io::Result<usize>> {
        UdpSocket::poll_send_to(self, cx, buf, target)
    }
}
