//! The server: hyper and axum on a runtime, from the same source for each.
//!
//! `axum::serve` spawns only on tokio; with `axum::serve` on one side and another server on the
//! other side, the difference would be measured too. As in `axum::serve`, hyper gets no timer here,
//! and has no timeouts.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

use gmp_benches::child;
use gmp_benches::rt::{Gmp, Io, Rt, Tokio};
use gmp_benches::side::Side;
use gmp_benches::sides::go;
use gmp_io::hyper::GmpIo;
use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;

use crate::app;

/// Runs the server: prints its address, and ends when standard input does.
pub(crate) fn serve(side: Side, procs: usize) -> io::Result<()> {
    match side {
        Side::Gmp => serve_on(&Gmp::new(procs)?),
        Side::GmpWithoutSysmon => serve_on(&Gmp::without_sysmon(procs)?),
        Side::Tokio => serve_on(&Tokio::new(procs)?),
        Side::Go => serve_in_go(procs),
    }
}

/// Becomes the program in Go (`benches/go/serve.go`), so that its costs are those of this process.
fn serve_in_go(procs: usize) -> io::Result<()> {
    Err(Command::new(go::build()?).env("GOMAXPROCS", procs.to_string()).arg("serve").exec())
}

fn serve_on<R: Io>(rt: &R) -> io::Result<()> {
    let mut http = http1::Builder::new();
    // hyper's limit of 30 s also closes a connection that waits for its next request, and at a low
    // rate that is a failed request.
    http.header_read_timeout(None);
    let app = app::router(String::new);
    child::serve(rt, move |stream| http.serve_connection(GmpIo::new(stream), TowerToHyperService::new(app.clone())))
}
