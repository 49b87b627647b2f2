//! UDP sockets and Unix streams: made, used, dropped, some with a reader still waiting.

use std::io;
use std::time::Duration;

use gmp_exec::spawn;
use gmp_exec::time::{sleep, timeout};
use gmp_io::net::{UdpSocket, UnixStream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{same, wrong};
use crate::dice::Dice;

pub(super) async fn turn(mut dice: Dice) -> io::Result<()> {
    match dice.below(4) {
        0 => exchange_datagrams(&mut dice).await,
        1 => wait_in_vain(&mut dice).await,
        2 => through_a_pair(&mut dice).await,
        _ => drop_under_the_reader(&mut dice).await,
    }
}

async fn exchange_datagrams(dice: &mut Dice) -> io::Result<()> {
    let [one, other] = [UdpSocket::bind("127.0.0.1:0").await?, UdpSocket::bind("127.0.0.1:0").await?];
    for _ in 0..=dice.below(5) {
        let message = dice.bytes(8 * 1024);
        one.send_to(&message, other.local_addr()?).await?;
        let mut buffer = [0; 16 * 1024];
        let (length, sender) = other.recv_from(&mut buffer).await?;
        same(&message, &buffer[..length])?;
        if sender != one.local_addr()? {
            return Err(wrong("a datagram has another sender"));
        }
    }
    Ok(())
}

async fn wait_in_vain(dice: &mut Dice) -> io::Result<()> {
    let socket = UdpSocket::bind("127.0.0.1:0").await?;
    match timeout(dice.millis_below(5), socket.recv(&mut [0; 16])).await {
        Err(_) => Ok(()),
        Ok(result) => Err(result.err().unwrap_or_else(|| wrong("a datagram came from nowhere"))),
    }
}

/// More than the buffers hold, so both ends wait for each other now and then.
async fn through_a_pair(dice: &mut Dice) -> io::Result<()> {
    let (mut one, mut other) = UnixStream::pair()?;
    let message = dice.bytes(512 * 1024);
    let sent = message.clone();
    let writer = spawn(async move { one.write_all(&sent).await });
    let mut received = Vec::new();
    other.read_to_end(&mut received).await?;
    writer.await.map_err(io::Error::other)??;
    same(&message, &received)
}

/// The reader is told; nothing of either end stays.
async fn drop_under_the_reader(dice: &mut Dice) -> io::Result<()> {
    let (one, mut other) = UnixStream::pair()?;
    let reader = spawn(async move { other.read(&mut [0; 16]).await });
    sleep(dice.millis_below(2)).await;
    drop(one);
    match timeout(Duration::from_secs(10), reader).await {
        Ok(Ok(Ok(0))) => Ok(()),
        Ok(Ok(Err(error))) => Err(error),
        _ => Err(wrong("a reader wasn't told that its peer has gone")),
    }
}
