//! The server: hyper and axum on a runtime, the text the same for each.
//!
//! `axum::serve` spawns on tokio and nowhere else; with it on one side and something else on the
//! other, the difference would be measured too. Like that one, hyper gets no timer here, and has no
//! timeouts.

use std::io;

use gmp_benches::child;
use gmp_benches::rt::{Gmp, Io, Rt, Tokio};
use gmp_benches::side::Side;
use gmp_io::hyper::GmpIo;
use hyper::server::conn::http1;
use hyper_util::service::TowerToHyperService;

use crate::app;

/// Is the server: prints its address, and ends when standard input does.
pub(crate) fn serve(side: Side, procs: usize) -> io::Result<()> {
    match side {
        Side::Gmp => serve_on(&Gmp::new(procs)?),
        Side::GmpWithoutSysmon => serve_on(&Gmp::without_sysmon(procs)?),
        Side::Tokio => serve_on(&Tokio::new(procs)?),
    }
}

fn serve_on<R: Io>(rt: &R) -> io::Result<()> {
    let mut http = http1::Builder::new();
    // Its limit of 30 s also closes a connection that waits for its next request, which at a low
    // rate is a failed one.
    http.header_read_timeout(None);
    let app = app::router(String::new);
    child::serve(rt, move |stream| http.serve_connection(GmpIo::new(stream), TowerToHyperService::new(app.clone())))
}
