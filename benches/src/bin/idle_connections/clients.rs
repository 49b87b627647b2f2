//! The clients: plain sockets and threads of this process, the same for both servers.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Two threads keep half of the busy connections in flight while they read from the other half.
const THREADS: usize = 2;

/// How long to wait for an echo before the server counts as broken.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Opens `count` connections. Each has had one echo, so the server has accepted it and waits for
/// more.
pub(crate) fn connect(address: SocketAddr, count: usize) -> io::Result<Vec<TcpStream>> {
    let connections = (0..count).map(|_| {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        exchange(std::slice::from_mut(&mut stream))?;
        Ok(stream)
    });
    connections.collect()
}

/// Keeps `connections` busy for `duration`; returns the echoes per second.
pub(crate) fn keep_busy(connections: &mut [TcpStream], duration: Duration) -> io::Result<f64> {
    let start = Instant::now();
    let share = connections.len().div_ceil(THREADS);
    let echoes = thread::scope(|scope| {
        let chunks = connections.chunks_mut(share);
        let threads: Vec<_> =
            chunks.map(|chunk| scope.spawn(move || exchange_until(chunk, start + duration))).collect();
        let joined = threads.into_iter().map(|thread| thread.join().expect("a client's thread doesn't panic"));
        joined.sum::<io::Result<u64>>()
    })?;
    Ok(echoes as f64 / start.elapsed().as_secs_f64())
}

fn exchange_until(connections: &mut [TcpStream], end: Instant) -> io::Result<u64> {
    let mut echoes = 0;
    while Instant::now() < end {
        exchange(connections)?;
        echoes += connections.len() as u64;
    }
    Ok(echoes)
}

/// Sends a message on every connection, then reads the echo on every connection.
fn exchange(connections: &mut [TcpStream]) -> io::Result<()> {
    let mut echo = [0; 64];
    for connection in &mut *connections {
        connection.write_all(&[1; 64])?;
    }
    for connection in connections {
        connection.read_exact(&mut echo)?;
    }
    Ok(())
}
