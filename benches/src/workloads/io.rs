//! Sockets: 64 bytes go to a peer in the same process and come back, again and again. And files.
//!
//! A peer echoes as many messages as its client sends and then ends: a datagram socket has no other
//! way to learn of the end. A pair of datagram sockets has one message in flight, so none is lost.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::time::{Duration, Instant};

use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::countdown::{self, Countdown};
use crate::rt::{Io, in_task};

pub(super) const EXCHANGES: u32 = 2_048;

pub(super) const CROWD_EXCHANGES: u32 = CROWD * CROWD_EXCHANGES_EACH;
const CROWD: u32 = 1_000;
const CROWD_EXCHANGES_EACH: u32 = 30;

pub(super) const CONNECTIONS: u32 = 200;
pub(super) const PIECES: u32 = 1_024;
const PIECE: usize = 64 << 10;

const MESSAGE: [u8; 64] = *b"sixty-four bytes go to a peer and come back the way they came in";

const HERE: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

pub(super) fn tcp<R: Io, const CONNECTIONS: u32>(rt: &R) -> Duration {
    exchange(rt, CONNECTIONS, || async {
        let (listener, address) = R::listen(HERE).await?;
        let client = R::connect(address).await?;
        Ok((Stream(client), Stream(R::accept(&listener).await?)))
    })
}

pub(super) fn unix<R: Io, const CONNECTIONS: u32>(rt: &R) -> Duration {
    exchange(rt, CONNECTIONS, || async { R::unix_pair().map(|(client, peer)| (Stream(client), Stream(peer))) })
}

pub(super) fn udp<R: Io, const CONNECTIONS: u32>(rt: &R) -> Duration {
    exchange(rt, CONNECTIONS, || async {
        R::udp_pair(HERE).await.map(|(client, peer)| (Socket::<R>(client), Socket::<R>(peer)))
    })
}

/// One task connects to a listener of the same runtime, and drops both ends, again and again.
pub(super) fn connect<R: Io>(rt: &R) -> Duration {
    in_task(rt, async {
        let (listener, address) = R::listen(HERE).await.expect("a port of this machine is free");
        let accepting = R::spawn(async move {
            for _ in 0..CONNECTIONS {
                R::accept(&listener).await.expect("a client connects");
            }
        });
        let start = Instant::now();
        for _ in 0..CONNECTIONS {
            R::connect(address).await.expect("the listener's backlog has room");
        }
        accepting.await.expect("the accepting task doesn't panic");
        start.elapsed()
    })
}

/// 64 MiB go over one connection, in pieces of 64 KiB.
pub(super) fn bulk<R: Io>(rt: &R) -> Duration {
    in_task(rt, async {
        let (listener, address) = R::listen(HERE).await.expect("a port of this machine is free");
        let mut from = R::connect(address).await.expect("the listener's backlog has room");
        let mut to = R::accept(&listener).await.expect("a client has connected");
        let start = Instant::now();
        let sending = R::spawn(async move {
            for _ in 0..PIECES {
                from.write_all(&[7; PIECE]).await.expect("the other end reads");
            }
        });
        let received = tokio::io::copy(&mut to, &mut tokio::io::sink()).await.expect("the other end writes");
        let elapsed = start.elapsed();
        sending.await.expect("the sending task doesn't panic");
        assert_eq!(received, u64::from(PIECES) * PIECE as u64, "bytes were lost");
        elapsed
    })
}

/// Connects pairs of ends, then starts the clock and lets all of them exchange messages at once.
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
            drop(R::spawn(ask(client, EXCHANGES / connections, countdown.clone())));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

/// 1 000 clients connect to one listener at once and exchange 30 messages each; connecting is
/// measured.
///
/// When the listener's backlog is full, the kernel sends a connection's request again a second
/// later. That second is part of the measurement.
pub(super) fn crowd<R: Io>(rt: &R) -> Duration {
    let countdown = Countdown::new(CROWD);
    in_task(rt, async move {
        let start = Instant::now();
        let (listener, address) = R::listen(HERE).await.expect("this machine has a free port");
        drop(R::spawn(accept::<R>(listener)));
        for _ in 0..CROWD {
            let countdown = countdown.clone();
            drop(R::spawn(async move {
                let stream = R::connect(address).await.expect("the listener accepts");
                ask(Stream(stream), CROWD_EXCHANGES_EACH, countdown).await;
            }));
        }
        countdown.finished().await;
        start.elapsed()
    })
}

async fn accept<R: Io>(listener: R::TcpListener) {
    for _ in 0..CROWD {
        let stream = R::accept(&listener).await.expect("every client connects");
        drop(R::spawn(answer(Stream(stream), CROWD_EXCHANGES_EACH)));
    }
}

async fn ask(mut client: impl End, messages: u32, countdown: Countdown) {
    let mut echo = [0; 64];
    for _ in 0..messages {
        client.send(&MESSAGE).await.expect("the peer is there until it has answered");
        client.receive(&mut echo).await.expect("the peer answers");
    }
    assert_eq!(echo, MESSAGE, "what comes back is what was sent");
    // The connection is closed before the clock can stop.
    drop(client);
    countdown.decrement();
}

async fn answer(mut peer: impl End, messages: u32) {
    let mut message = [0; 64];
    for _ in 0..messages {
        peer.receive(&mut message).await.expect("the client sends as often as it said");
        peer.send(&message).await.expect("the client waits for its answer");
    }
}

trait End: Send + 'static {
    fn send(&mut self, message: &[u8; 64]) -> impl Future<Output = io::Result<()>> + Send;
    fn receive(&mut self, message: &mut [u8; 64]) -> impl Future<Output = io::Result<()>> + Send;
}

struct Stream<S>(S);

impl<S: AsyncRead + AsyncWrite + Send + Unpin + 'static> End for Stream<S> {
    async fn send(&mut self, message: &[u8; 64]) -> io::Result<()> {
        self.0.write_all(message).await
    }

    async fn receive(&mut self, message: &mut [u8; 64]) -> io::Result<()> {
        self.0.read_exact(message).await.map(drop)
    }
}

struct Socket<R: Io>(R::UdpSocket);

impl<R: Io> End for Socket<R> {
    async fn send(&mut self, message: &[u8; 64]) -> io::Result<()> {
        R::send(&self.0, message).await.map(drop)
    }

    async fn receive(&mut self, message: &mut [u8; 64]) -> io::Result<()> {
        R::recv(&self.0, message).await.map(drop)
    }
}

pub(super) const READS: u32 = 1_024;

const FILE: usize = 4096;

/// Tasks read a file of 4 KiB by its path; the kernel has it in memory.
pub(super) fn read_file<R: Io, const TASKS: u32>(rt: &R) -> Duration {
    // A file that was just written is in the kernel's memory.
    let mut file = NamedTempFile::new().expect("a temporary file can be made");
    file.write_all(&[7; FILE]).expect("4 KiB can be written");
    let path = file.path().to_owned();
    countdown::crowd(rt, TASKS, move |_, countdown| {
        let path = path.clone();
        async move {
            for _ in 0..READS / TASKS {
                let content = R::read(&path).await.expect("the file is there until the round has ended");
                assert_eq!(content.len(), FILE, "the file is read to its end");
            }
            countdown.decrement();
        }
    })
}
