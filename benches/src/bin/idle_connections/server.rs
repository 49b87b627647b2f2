//! The server whose memory is measured: a process of its own, so that nothing else is in it.

use std::{
    env,
    io::{self, BufRead, BufReader, Read},
    net::{Ipv4Addr, SocketAddr, SocketAddrV4},
    process::{Child, Command, Stdio},
};

use gmp_benches::rt::{Gmp, Io, Rt, Tokio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A server that was started. Ends when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts this program again, as a server on the runtime `name`.
    pub(crate) fn start(name: &str, procs: usize) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(["--serve", name, "--procs", &procs.to_string()]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe was asked for")).read_line(&mut line)?;
        let address = line.trim().parse().map_err(|_| io::Error::other(format!("the server on {name} didn't start")));
        address.map(|address| Server { child, address })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            eprintln!("idle_connections: the server can't be waited for: {error}");
        }
    }
}

/// Is that server: prints its address, and ends when standard input does.
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
    println!("{}", R::local_addr(&listener)?);
    drop(rt.spawn_remote(accept::<R>(listener)));
    io::stdin().read_to_end(&mut Vec::new()).map(|_| ())
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
