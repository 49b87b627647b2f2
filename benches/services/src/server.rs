//! A server in a process of its own: prints its address, and at the end what the process has used.

use std::io::{Read, Write};

use anyhow::Result;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use tokio::net::TcpListener;

use crate::services::Service;

/// What a server has used from its start to its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    /// User and system time, in microseconds.
    pub(crate) cpu_us: u64,
    /// Context switches of all threads.
    pub(crate) switches: u64,
}

/// Serves until standard input ends.
#[tokio::main]
pub(crate) async fn run(service: Service) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    std::io::stdout().flush()?;
    tokio::spawn(service.serve(listener));
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    let used = Used::until_now()?;
    println!("{} {}", used.cpu_us, used.switches);
    // The runtime's drop would wait for handlers that block.
    std::process::exit(0)
}

impl Used {
    fn until_now() -> Result<Used> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        let cpu = usage.user_time() + usage.system_time();
        let switches = usage.voluntary_context_switches() + usage.involuntary_context_switches();
        Ok(Used { cpu_us: cpu.num_microseconds() as u64, switches: switches as u64 })
    }

    pub(crate) fn parse(line: &str) -> Option<Used> {
        let (cpu_us, switches) = line.trim().split_once(' ')?;
        Some(Used { cpu_us: cpu_us.parse().ok()?, switches: switches.parse().ok()? })
    }
}
