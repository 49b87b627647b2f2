//! The command line.

use std::io;
use std::net::SocketAddr;

use clap::Args;

/// Where the example listens, and on how many processors it runs.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where to listen, an IP address and a port; port 0: any free one
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:3000")]
    pub(crate) addr: SocketAddr,
    /// How many tasks may run at the same time (1 to 1024; as many as cores unless told)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    procs: Option<u16>,
}

impl Options {
    /// How many tasks may run at the same time, if that was told.
    pub(crate) fn procs(&self) -> Option<usize> {
        self.procs.map(usize::from)
    }

    /// Names the address in an error of `bind`.
    pub(crate) fn cannot_listen(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("cannot listen on {}: {error}", self.addr))
    }
}
