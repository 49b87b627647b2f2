//! Processes of this program, started again: the cost of a server can be measured only if nothing
//! else is in its process, and effects of the previous measurement are gone only after the process
//! has ended.
//!
//! A server prints its address on standard output and serves until its standard input ends, so it
//! can't outlive a parent that was killed.

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::rt::{Io, Work};

/// This program with other arguments.
pub fn again(arguments: &[&str]) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.args(arguments);
    Ok(command)
}

/// A process that writes lines, and ends when its standard input does: when this value is dropped.
#[derive(Debug)]
pub struct Piped {
    child: Child,
    from: BufReader<ChildStdout>,
    to: Option<ChildStdin>,
}

impl Piped {
    /// Starts the process.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (from, to) = (child.stdout.take().expect("a pipe was asked for"), child.stdin.take());
        Ok(Piped { child, from: BufReader::new(from), to })
    }

    /// Reads the next line.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        match self.from.read_line(&mut line)? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the process has ended")),
            _ => Ok(line.trim_end().to_owned()),
        }
    }

    /// Writes a line, at once: half a line must not wake the process.
    pub fn tell(&mut self, line: &str) -> io::Result<()> {
        self.to.as_mut().expect("only a drop closes it").write_all(format!("{line}\n").as_bytes())
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        drop(self.to.take());
        if let Err(error) = self.child.wait() {
            eprintln!("a process can't be waited for: {error}");
        }
    }
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    process: Piped,
    /// The address on which the server listens.
    pub address: SocketAddr,
}

impl Server {
    /// Starts this program again, with other arguments, and waits for its address.
    pub fn start(arguments: &[&str]) -> io::Result<Self> {
        let mut process = Piped::start(&mut again(arguments)?)?;
        let address = process.line().ok().and_then(|line| line.parse().ok());
        let not_started = || io::Error::other(format!("the server ({}) didn't start", arguments.join(" ")));
        address.map(|address| Server { process, address }).ok_or_else(not_started)
    }

    /// The id of the server's process.
    pub fn pid(&self) -> u32 {
        self.process.child.id()
    }
}

/// The server's part: prints the address for the parent, and passes each connection to `serve`
/// until the parent no longer needs the server.
pub fn serve<R: Io, F: Work>(rt: &R, serve: impl Fn(R::TcpStream) -> F + Send + 'static) -> io::Result<()> {
    let (listener, address) = rt.block_on(R::listen(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0).into()))?;
    println!("{address}");
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
