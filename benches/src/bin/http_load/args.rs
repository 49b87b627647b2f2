//! The arguments of `http_load`.

use std::net::SocketAddr;

use gmp_benches::cli::{Arguments, BadArgument};

pub(crate) const USAGE: &str = "\
Sends GET requests to an HTTP/1.1 server at a constant rate and prints latencies counted from the due moments.

usage: http_load --addr HOST:PORT [--path PATH] [--rate N] [--secs N] [--connections N]
                 [--busy-path PATH [--busy-clients N] [--busy-percent N]] [--server-pid PID]

  --addr HOST:PORT    the server, an IP address and a port
  --path PATH         what is measured (/ unless told)
  --rate N            requests a second (1 to 1000000, 500 unless told)
  --secs N            for how long they are due (1 to 86400, 10 unless told)
  --connections N     over how many kept-alive connections at most (1 to 4096, 64 unless told)
  --busy-path PATH    what is requested besides, such as '/block?ms=100'
  --busy-clients N    so many clients request it all the time, each when it has its answer (0 to 4096, 0 unless told)
  --busy-percent N    so many percent of the due requests go there instead (0 to 100, 0 unless told)
  --server-pid PID    also print this process's threads and CPU time";

const FLAGS: [&str; 9] = [
    "--addr",
    "--path",
    "--rate",
    "--secs",
    "--connections",
    "--busy-path",
    "--busy-clients",
    "--busy-percent",
    "--server-pid",
];

#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) addr: SocketAddr,
    pub(crate) path: String,
    pub(crate) rate: u64,
    pub(crate) secs: u64,
    pub(crate) connections: usize,
    pub(crate) busy_path: Option<String>,
    pub(crate) busy_clients: usize,
    pub(crate) busy_percent: u64,
    pub(crate) server_pid: Option<u32>,
}

impl Options {
    pub(crate) fn parse(mut arguments: Arguments) -> Result<Self, BadArgument> {
        let (mut addr, mut options) = (None, Options::default());
        while let Some(flag) = arguments.flag() {
            match flag.as_str() {
                "--addr" => addr = Some(address(&mut arguments)?),
                "--path" => options.path = path(&mut arguments, &flag)?,
                "--rate" => options.rate = arguments.number(&flag, 1..=1_000_000)?,
                "--secs" => options.secs = arguments.number(&flag, 1..=86_400)?,
                "--connections" => options.connections = arguments.number(&flag, 1..=4096)?,
                "--busy-path" => options.busy_path = Some(path(&mut arguments, &flag)?),
                "--busy-clients" => options.busy_clients = arguments.number(&flag, 0..=4096)?,
                "--busy-percent" => options.busy_percent = arguments.number(&flag, 0..=100)?,
                "--server-pid" => options.server_pid = Some(arguments.number(&flag, 1..=u32::MAX)?),
                _ => return Err(BadArgument::unknown(&flag, &FLAGS)),
            }
        }
        options.addr = addr.ok_or_else(|| BadArgument::missing("--addr"))?;
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), BadArgument> {
        let busy = self.busy_clients > 0 || self.busy_percent > 0;
        if busy && self.busy_path.is_none() {
            return Err(BadArgument::missing("with --busy-clients or --busy-percent, --busy-path"));
        }
        Ok(())
    }
}

/// The address is nobody's: the user has to name one.
impl Default for Options {
    fn default() -> Self {
        Options {
            addr: SocketAddr::from(([0, 0, 0, 0], 0)),
            path: "/".to_owned(),
            rate: 500,
            secs: 10,
            connections: 64,
            busy_path: None,
            busy_clients: 0,
            busy_percent: 0,
            server_pid: None,
        }
    }
}

fn address(arguments: &mut Arguments) -> Result<SocketAddr, BadArgument> {
    let allowed = "HOST:PORT, such as 127.0.0.1:3000";
    let value = arguments.value("--addr", allowed)?;
    value.parse().map_err(|_| BadArgument::value("--addr", &value, allowed))
}

fn path(arguments: &mut Arguments, flag: &str) -> Result<String, BadArgument> {
    let allowed = "a path that begins with `/` and has no blanks";
    let value = arguments.value(flag, allowed)?;
    let good = value.starts_with('/') && value.bytes().all(|byte| byte.is_ascii_graphic());
    if good { Ok(value) } else { Err(BadArgument::value(flag, &value, allowed)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(arguments: &[&str]) -> String {
        Options::parse(Arguments::new(arguments.iter().copied())).unwrap_err().to_string()
    }

    #[test]
    fn the_address_is_required() {
        assert_eq!(error(&[]), "--addr is required");
    }

    #[test]
    fn a_path_with_a_blank_is_no_path() {
        assert!(error(&["--path", "/a b"]).contains("`/a b`"));
    }

    #[test]
    fn busy_clients_need_something_to_ask_for() {
        assert!(error(&["--addr", "127.0.0.1:1", "--busy-clients", "1"]).contains("--busy-path is required"));
    }
}
