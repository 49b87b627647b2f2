//! The server whose memory is measured: a process of its own, so that nothing else is in it.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use gmp_benches::child;
use gmp_benches::rt::{Gmp, Io, Rt, Tokio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Is the server: prints its address, and ends when standard input does.
pub(crate) fn serve(name: &str, procs: usize) -> io::Result<()> {
    match name {
        Gmp::NAME => serve_on::<Gmp>(procs),
        Tokio::NAME => serve_on::<Tokio>(procs),
        _ => unreachable!("the arguments were checked"),
    }
}

fn serve_on<R: Io>(procs: usize) -> io::Result<()> {
    let rt = R::new(procs)?;
    let here = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let listener = rt.block_on(R::listen(here.into()))?;
    let address = R::local_addr(&listener)?;
    drop(rt.spawn_remote(accept::<R>(listener)));
    child::serve_until_told(address)
}

async fn accept<R: Io>(listener: R::TcpListener) {
    loop {
        match R::accept(&listener).await {
            Ok(stream) => drop(R::spawn(echo::<R>(stream))),
            Err(error) => eprintln!("idle_connections: the server on {} can't accept: {error}", R::NAME),
        }
    }
}

/// As a service would be written: until the client has gone.
async fn echo<R: Io>(mut stream: R::TcpStream) {
    let mut message = [0; 64];
    while stream.read_exact(&mut message).await.is_ok() && stream.write_all(&message).await.is_ok() {}
}
