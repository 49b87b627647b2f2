//! The example `serve` of gmp-io on tokio: the same application, the same command line,
//! `axum::serve`.

#[path = "../../../gmp-io/examples/serve/app.rs"]
mod app;
#[path = "../../../gmp-io/examples/serve/args.rs"]
mod args;
#[path = "../../../gmp-io/examples/serve/query.rs"]
mod query;

use std::io;
use std::process::ExitCode;

use clap::Parser;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::signal;

use crate::args::Options;

/// The example `serve` of gmp-io, on tokio
#[derive(Debug, Parser)]
struct Serve {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    gmp_benches::cli::exit_code("serve_tokio", run(&Serve::parse().options))
}

fn run(options: &Options) -> io::Result<()> {
    runtime(options)?.block_on(async {
        let listener = TcpListener::bind(options.addr).await.map_err(|error| options.cannot_listen(&error))?;
        println!("listening on http://{}", listener.local_addr()?);
        let handle = Handle::current();
        let app = app::router(move || metrics(&handle));
        axum::serve(listener, app).with_graceful_shutdown(interrupted()).await
    })
}

fn runtime(options: &Options) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if let Some(procs) = options.procs() {
        builder.worker_threads(procs);
    }
    builder.enable_all().build()
}

async fn interrupted() {
    signal::ctrl_c().await.expect("SIGINT can be caught");
}

/// The metrics that tokio has without `tokio_unstable`.
fn metrics(handle: &Handle) -> String {
    let metrics = handle.metrics();
    format!(
        "workers {}\nalive_tasks {}\nglobal_queue_depth {}\n",
        metrics.num_workers(),
        metrics.num_alive_tasks(),
        metrics.global_queue_depth(),
    )
}
