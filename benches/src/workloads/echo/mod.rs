//! 64 bytes go to a peer in the same process and come back, again and again.
//!
//! Both ends are tasks of the measured runtime. A peer echoes as many messages as its client sends
//! and then ends: a datagram socket has no other way to learn of the end, and so the rows differ
//! only in the socket.

mod crowd;
mod datagrams;
mod streams;

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::{Duration, Instant};

pub(super) use self::crowd::{EXCHANGES as CROWD_EXCHANGES, round as crowd};
pub(super) use self::datagrams::udp;
pub(super) use self::streams::{tcp, unix};
use super::countdown::Countdown;
use crate::rt::{Io, in_task};

/// Exchanges per round, of all connections together.
pub(super) const EXCHANGES: u32 = 2_048;

const MESSAGE: [u8; 64] = *b"sixty-four bytes go to a peer and come back the way they came in";

/// A free port on this machine.
const HERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

/// One end of a connection.
trait End: Send + 'static {
    fn send(&mut self, message: &[u8; 64]) -> impl Future<Output = io::Result<()>> + Send;
    fn receive(&mut self, message: &mut [u8; 64]) -> impl Future<Output = io::Result<()>> + Send;
}

/// Connects `connections` pairs of ends, then starts the clock and lets all of them exchange
/// messages at once.
fn exchange<R, E, Pair>(rt: &R, connections: u32, connect: impl Fn() -> Pair + Send + 'static) -> Duration
where
    R: Io,
    E: End,
    Pair: Future<Output = io::Result<(E, E)>> + Send + 'static,
{
    in_task(rt, async move {
        let mut ends = Vec::with_capacity(connections as usize);
        for _ in 0..connections {
            ends.push(connect().await.expect("two sockets of this machine can be connected"));
        }
        let countdown = Countdown::new(connections);
        let start = Instant::now();
        for (client, peer) in ends {
            drop(R::spawn(answer(peer, EXCHANGES / connections)));
            drop(R::spawn(ask_and_tell(client, EXCHANGES / connections, countdown.clone())));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

async fn ask_and_tell(client: impl End, messages: u32, countdown: Countdown) {
    ask(client, messages).await;
    countdown.decrement();
}

async fn ask(mut client: impl End, messages: u32) {
    let mut echo = [0; 64];
    for _ in 0..messages {
        client.send(&MESSAGE).await.expect("the peer is there until it has answered");
        client.receive(&mut echo).await.expect("the peer answers");
    }
    assert_eq!(echo, MESSAGE, "what comes back is what was sent");
}

async fn answer(mut peer: impl End, messages: u32) {
    let mut message = [0; 64];
    for _ in 0..messages {
        peer.receive(&mut message).await.expect("the client sends as often as it said");
        peer.send(&message).await.expect("the client waits for its answer");
    }
}
