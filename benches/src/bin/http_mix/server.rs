//! The server: hyper and axum on a runtime, from the same source for each.
//!
//! `axum::serve` spawns only on tokio. As there, hyper gets no timer here, and has no timeouts. The
//! server is this program, started again, because its cost can be measured only if nothing else is
//! in its process. It prints its address and serves until its standard input ends, so it can't
//! outlive a parent that was killed.

use std::io::{self, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};
use gmp_benches::child::{Piped, again};
use gmp_benches::report::Side;
use gmp_benches::rt::{Gmp, Io, Rt, Tokio};
use gmp_benches::sides::go;
use gmp_io::hyper::GmpIo;
use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;

use crate::app;

/// A running server, which ends when this value is dropped.
pub(crate) struct Server {
    process: Piped,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn start(side: Side, procs: usize) -> Result<Self> {
        let mut process = Piped::start(&mut again(&["--serve", side.key(), "--procs", &procs.to_string()])?)?;
        let address = process.line().ok().and_then(|line| line.parse().ok());
        let address = address.with_context(|| format!("the server on {} didn't start", side.key()))?;
        Ok(Server { process, address })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.pid()
    }
}

/// Runs the server: prints its address, and ends when standard input does.
pub(crate) fn serve(side: Side, procs: usize) -> Result<()> {
    match side {
        Side::Gmp => serve_on(&Gmp::new(procs)?),
        Side::GmpWithoutSysmon => serve_on(&Gmp::without_sysmon(procs)?),
        Side::Tokio => serve_on(&Tokio::new(procs)?),
        Side::Go => serve_in_go(procs),
    }
}

/// Becomes the program in Go (`benches/go/serve.go`), so that its costs are those of this process.
fn serve_in_go(procs: usize) -> Result<()> {
    Err(Command::new(go::build()?).env("GOMAXPROCS", procs.to_string()).arg("serve").exec().into())
}

fn serve_on<R: Io>(rt: &R) -> Result<()> {
    let (listener, address) = rt.block_on(R::listen((Ipv4Addr::LOCALHOST, 0).into()))?;
    println!("{address}");
    let mut http = http1::Builder::new();
    // hyper's limit of 30 s also closes a connection that waits for its next request, and at a low
    // rate that is a failed request.
    http.header_read_timeout(None);
    let app = app::router(String::new);
    drop(rt.spawn_remote(async move {
        loop {
            let service = TowerToHyperService::new(app.clone());
            match R::accept(&listener).await {
                Ok(stream) => drop(R::spawn(http.serve_connection(GmpIo::new(stream), service))),
                Err(error) => eprintln!("the server on {} can't accept: {error}", R::NAME),
            }
        }
    }));
    io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
