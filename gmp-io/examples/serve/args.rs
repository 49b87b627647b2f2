//! The command line.

use std::net::SocketAddr;
use std::{env, io, process};

/// The program that was started.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// Whether its runtime has a sysmon that can be switched off.
    pub(crate) sysmon: bool,
}

/// The arguments of the command line.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) addr: SocketAddr,
    pub(crate) procs: Option<usize>,
    pub(crate) sysmon: bool,
}

impl Options {
    /// Adds the address to an error of `bind`.
    pub(crate) fn cannot_listen(&self, error: &io::Error) -> io::Error {
        io::Error::new(error.kind(), format!("cannot listen on {}: {error}", self.addr))
    }
}

impl Program {
    /// Parses the arguments of this process. Ends it on `--help` (code 0) or a bad argument (code
    /// 2).
    pub(crate) fn options_or_exit(&self) -> Options {
        let arguments: Vec<String> = env::args_os().skip(1).map(|it| it.to_string_lossy().into_owned()).collect();
        if arguments.iter().any(|it| it == "--help" || it == "-h") {
            println!("{}", self.usage());
            process::exit(0);
        }
        self.parse(arguments).unwrap_or_else(|error| {
            eprintln!("{}: {error}\n\n{}", self.name, self.usage());
            process::exit(2);
        })
    }

    fn usage(&self) -> String {
        let mut usage = format!("usage: {} [--addr HOST:PORT] [--procs N]", self.name);
        usage += if self.sysmon { " [--sysmon on|off]\n" } else { "\n" };
        usage += "
  --addr HOST:PORT   where to listen, an IP address and a port (127.0.0.1:3000 unless told; port 0: any free one)
  --procs N          how many tasks may run at the same time (1 to 1024; as many as cores unless told)";
        if self.sysmon {
            usage += "\n  --sysmon on|off    whether a task that holds its thread is noticed (on unless told)";
        }
        usage
    }

    fn flags(&self) -> &'static str {
        if self.sysmon { "--addr, --procs, --sysmon, --help" } else { "--addr, --procs, --help" }
    }

    fn parse(&self, arguments: Vec<String>) -> Result<Options, String> {
        let mut options = Options { addr: SocketAddr::from(([127, 0, 0, 1], 3000)), procs: None, sysmon: self.sysmon };
        let mut rest = arguments.into_iter();
        while let Some(flag) = rest.next() {
            let mut value = || rest.next();
            match flag.as_str() {
                "--addr" => {
                    options.addr = parsed(&flag, value(), "HOST:PORT, such as 127.0.0.1:3000", |it| it.parse().ok())?
                }
                "--procs" => options.procs = parsed(&flag, value(), "a whole number from 1 to 1024", procs)?,
                "--sysmon" if self.sysmon => options.sysmon = parsed(&flag, value(), "`on` or `off`", on_or_off)?,
                _ => {
                    return Err(format!("unknown argument `{flag}`; allowed are {}", self.flags()));
                }
            }
        }
        Ok(options)
    }
}

fn parsed<T>(
    flag: &str,
    value: Option<String>,
    allowed: &str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, String> {
    let value = value.ok_or_else(|| format!("{flag} needs a value: {allowed}"))?;
    parse(&value).ok_or_else(|| format!("{flag} can't be `{value}`: it must be {allowed}"))
}

fn procs(value: &str) -> Option<Option<usize>> {
    value.parse().ok().filter(|procs| (1..=1024).contains(procs)).map(Some)
}

fn on_or_off(value: &str) -> Option<bool> {
    match value {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}
