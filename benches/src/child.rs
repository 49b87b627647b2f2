//! A server in a process of its own: this program, started again.
//!
//! The cost of a server can be measured only if nothing else is in its process, and effects of the
//! previous measurement are gone only after the process has ended. The server prints its address on
//! standard output and serves until its standard input ends, so it can't outlive a parent that was
//! killed.

use std::env;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::process::{Child, Command, Stdio};

use crate::rt::Io;

/// A running server. Ends when this value is dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// The address on which the server listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts this program again, with other arguments, and waits for its address.
    pub fn start(arguments: &[&str]) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command.args(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe was asked for")).read_line(&mut line)?;
        let not_started = |_| io::Error::other(format!("the server ({}) didn't start", arguments.join(" ")));
        let address = line.trim().parse().map_err(not_started);
        address.map(|address| Server { child, address })
    }

    /// The id of the server's process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        if let Err(error) = self.child.wait() {
            eprintln!("the server can't be waited for: {error}");
        }
    }
}

/// The server's part: prints the address for the parent, and passes each connection to `serve`
/// until the parent no longer needs the server.
pub fn serve<R: Io, F>(rt: &R, serve: impl Fn(R::TcpStream) -> F + Send + 'static) -> io::Result<()>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let here = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
    let listener = rt.block_on(R::listen(here.into()))?;
    println!("{}", R::local_addr(&listener)?);
    drop(rt.spawn_remote(async move {
        loop {
            match R::accept(&listener).await {
                Ok(stream) => drop(R::spawn(serve(stream))),
                Err(error) => eprintln!("the server on {} can't accept: {error}", R::NAME),
            }
        }
    }));
    io::stdin().read_to_end(&mut Vec::new()).map(drop)
}
