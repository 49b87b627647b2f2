//! Echo over UDP. Each pair has one datagram in flight at a time, so none is lost.

use std::io;
use std::time::Duration;

use super::{End, HERE, exchange};
use crate::rt::Io;

pub(in crate::workloads) fn udp<R: Io, const CONNECTIONS: u32>(rt: &R) -> Duration {
    exchange(rt, CONNECTIONS, pair::<R>)
}

async fn pair<R: Io>() -> io::Result<(Socket<R>, Socket<R>)> {
    R::udp_pair(HERE).await.map(|(client, peer)| (Socket(client), Socket(peer)))
}

/// An end that is a socket.
struct Socket<R: Io>(R::UdpSocket);

impl<R: Io> End for Socket<R> {
    async fn send(&mut self, message: &[u8; 64]) -> io::Result<()> {
        R::send(&self.0, message).await.map(|_| ())
    }

    async fn receive(&mut self, message: &mut [u8; 64]) -> io::Result<()> {
        R::recv(&self.0, message).await.map(|_| ())
    }
}
