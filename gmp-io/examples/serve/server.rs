//! `axum::serve` without tokio's runtime: accept connections, pass them to hyper, and let requests
//! finish at the end.

use std::io;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use gmp_exec::time;
use gmp_io::hyper::{GmpIo, GmpTimer};
use gmp_io::net::{TcpListener, TcpStream};
use hyper::server::conn::http1;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;

/// How long connections may take to finish after the interrupt: a little longer than the longest
/// handler.
const GRACE: Duration = Duration::from_secs(15);

/// How long to wait when no connection can be accepted because there is no descriptor left.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves `app` until `interrupted`, then waits for requests in progress.
pub(crate) async fn serve(listener: TcpListener, app: Router, interrupted: impl Future<Output = ()>) {
    let connections = GracefulShutdown::new();
    let mut interrupted = pin!(interrupted);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => answer(stream, app.clone(), &connections),
                Err(error) => not_accepted(&error).await,
            },
            () = &mut interrupted => break,
        }
    }
    drop(listener);
    if time::timeout(GRACE, connections.shutdown()).await.is_err() {
        eprintln!("serve: connections that were not finished after {GRACE:?} are cut");
    }
}

/// Answers the requests of a connection in a new task.
fn answer(stream: TcpStream, app: Router, connections: &GracefulShutdown) {
    let connection = http1::Builder::new()
        .timer(GmpTimer::new())
        .serve_connection(GmpIo::new(stream), TowerToHyperService::new(app));
    let connection = connections.watch(connection);
    gmp_exec::spawn(async move {
        // The client or the network failed: there is no peer to report the error to.
        let _ = connection.await;
    });
}

/// A client that disconnected before it was accepted is no reason to wait; any other error is.
async fn not_accepted(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionReset) {
        eprintln!("serve: cannot accept a connection: {error}");
        time::sleep(PAUSE).await;
    }
}
