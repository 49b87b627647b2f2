//! TCP connections that end in every way there is. What the server does with one, the first byte
//! tells it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use gmp_exec::spawn;
use gmp_exec::task::JoinHandle;
use gmp_exec::time::{sleep, timeout};
use gmp_io::net::TcpStream;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{same, wrong};
use crate::dice::Dice;
use crate::server::Manners;
use crate::world::World;

pub(super) async fn turn(mut dice: Dice, world: Arc<World>) -> io::Result<()> {
    let address = world.server;
    match dice.below(8) {
        0 => close(&mut dice, address).await,
        1 => half_close(&mut dice, address).await,
        2 => in_halves(&mut dice, address).await,
        3 => abort(&mut dice, address).await,
        4 => leave_unread(&mut dice, address).await,
        5 => give_up_reading(&mut dice, address).await,
        6 => stop_in_the_middle(&mut dice, address).await,
        _ => be_cut_off(&mut dice, address).await,
    }
}

async fn close(dice: &mut Dice, address: SocketAddr) -> io::Result<()> {
    exchanges(dice, address).await.map(drop)
}

/// With linger 0 the peer gets a reset.
async fn abort(dice: &mut Dice, address: SocketAddr) -> io::Result<()> {
    exchanges(dice, address).await?.set_zero_linger()
}

/// The end of our direction makes the server close its own, and not before everything has come
/// back.
async fn half_close(dice: &mut Dice, address: SocketAddr) -> io::Result<()> {
    let mut stream = exchanges(dice, address).await?;
    let message = dice.bytes(16 * 1024);
    stream.write_all(&message).await?;
    stream.shutdown().await?;
    let mut echo = Vec::new();
    stream.read_to_end(&mut echo).await?;
    same(&message, &echo)
}

/// Reader and writer are two tasks, and more is under way than the socket's buffers hold.
async fn in_halves(dice: &mut Dice, address: SocketAddr) -> io::Result<()> {
    let (mut read, mut write) = connect(address, Manners::Echo).await?.into_split();
    let message = dice.bytes(1024 * 1024);
    let sent = message.clone();
    let writer: JoinHandle<io::Result<()>> = spawn(async move { write.write_all(&sent).await });
    let mut echo = Vec::new();
    read.read_to_end(&mut echo).await?;
    writer.await.map_err(io::Error::other)??;
    same(&message, &echo)
}

/// Closing with data unread resets the connection.
async fn leave_unread(dice: &mut Dice, address: SocketAddr) -> io::Result<()> {
    let mut stream = connect(address, Manners::Echo).await?;
    stream.write_all(&dice.bytes(16 * 1024)).await?;
    stream.readable().await
}

async fn give_up_reading(dice: &mut Dice, address: SocketAddr) -> io::Result<()> {
    let mut stream = connect(address, Manners::Silence).await?;
    match timeout(dice.millis_below(5), stream.read_u8()).await {
        Err(_) => Ok(()),
        Ok(Ok(_)) => Err(wrong("a silent server spoke")),
        Ok(Err(error)) => Err(error),
    }
}

/// A task is aborted while it sends data that its peer does not read. Without the reset, the kernel
/// would go on offering it for minutes.
async fn stop_in_the_middle(dice: &mut Dice, address: SocketAddr) -> io::Result<()> {
    let mut stream = connect(address, Manners::Silence).await?;
    stream.set_zero_linger()?;
    let task = spawn(async move {
        let chunk = vec![0; 64 * 1024];
        while stream.write_all(&chunk).await.is_ok() {}
    });
    sleep(dice.millis_below(5)).await;
    task.abort();
    match task.await {
        Err(error) if error.is_cancelled() => Ok(()),
        _ => Err(wrong("sending without end ended")),
    }
}

/// The server closes or resets when it has read something: everything from then on may fail, in the
/// ways of a cut.
async fn be_cut_off(dice: &mut Dice, address: SocketAddr) -> io::Result<()> {
    let manners = if dice.below(2) == 0 { Manners::Close } else { Manners::Reset };
    let message = dice.bytes(16 * 1024);
    let cut = async {
        let mut stream = connect(address, manners).await?;
        stream.write_all(&message).await?;
        stream.read_to_end(&mut Vec::new()).await
    };
    match cut.await {
        Err(error) if !is_cut(&error) => Err(error),
        _ => Ok(()),
    }
}

fn is_cut(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | NotConnected)
}

/// A connection that has echoed a few messages.
async fn exchanges(dice: &mut Dice, address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = connect(address, Manners::Echo).await?;
    for _ in 0..dice.below(5) {
        let message = dice.bytes(16 * 1024);
        stream.write_all(&message).await?;
        let mut echo = vec![0; message.len()];
        stream.read_exact(&mut echo).await?;
        same(&message, &echo)?;
    }
    Ok(stream)
}

async fn connect(address: SocketAddr, manners: Manners) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_u8(manners as u8).await?;
    Ok(stream)
}
