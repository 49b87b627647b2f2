//! An axum application on gmp: hyper and TCP, without a tokio runtime in the process.
//!
//! Two of its handlers do what a handler must not do on other runtimes: `/block` blocks its thread,
//! `/compute` keeps a core busy. However often they are called, `/` still answers at once:
//!
//!     cargo run --release -p gmp-io --example serve -- --procs 2
//!     curl 'http://127.0.0.1:3000/block?ms=5000' &
//!     curl 'http://127.0.0.1:3000/compute?ms=5000' &
//!     curl http://127.0.0.1:3000/
//!     curl http://127.0.0.1:3000/metrics
//!
//! Ctrl-C lets requests in progress finish, and ends the program.

mod app;
mod args;
mod interrupt;
mod query;
mod server;

use std::io;
use std::process::ExitCode;

use clap::Parser;
use gmp_exec::runtime::{Builder, Handle, Runtime};
use gmp_io::net::TcpListener;

use crate::args::Options;

/// An axum application on gmp
#[derive(Debug, Parser)]
struct Serve {
    #[command(flatten)]
    options: Options,
    /// Whether a task that holds its thread is noticed
    #[arg(long, default_value = "on", value_parser = ["on", "off"])]
    sysmon: String,
}

fn main() -> ExitCode {
    let options = Serve::parse();
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("serve: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(serve: &Serve) -> io::Result<()> {
    let options = &serve.options;
    runtime(serve)?.block_on(async {
        let listener = TcpListener::bind(options.addr).await.map_err(|error| options.cannot_listen(&error))?;
        println!("listening on http://{}", listener.local_addr()?);
        let handle = Handle::current();
        let app = app::router(move || handle.metrics().to_string());
        server::serve(listener, app, interrupt::interrupted()?).await;
        Ok(())
    })
}

fn runtime(serve: &Serve) -> io::Result<Runtime> {
    let mut builder = Builder::new_multi_thread();
    if let Some(procs) = serve.options.procs() {
        builder.worker_threads(procs);
    }
    builder.thread_name("serve-machine").sysmon(serve.sysmon == "on").enable_all().build()
}
