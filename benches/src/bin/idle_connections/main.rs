//! The cost of an idle connection, and its effect on busy ones.
//!
//! A runtime never returns all the memory that it has used, so every measurement has a server of
//! its own: this program, started again. The clients stay in the parent and use no runtime. Only
//! the server's end of a connection is counted, and only its RSS, not the kernel's memory for a
//! socket.

mod clients;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use gmp_benches::child::{self, Server};
use gmp_benches::cli::{self, number, seconds};
use gmp_benches::measure::{Samples, take_all};
use gmp_benches::report::{JsonLines, rounded};
use gmp_benches::rt::{Gmp, Io, Rt, Tokio};
use gmp_benches::{limits, process};
use serde::Serialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Keeps idle TCP connections open to a server on gmp and to one on tokio. Prints how much memory
/// one idle connection costs the server, and how many 64-byte echoes per second the busy
/// connections get, without and beside the idle ones.
#[derive(Debug, Parser)]
struct Options {
    /// Idle connections (1 to 25000: an address has no more ports)
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = number::<usize>(1..=25_000))]
    idle: usize,
    /// Busy connections (1 to 1000)
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = number::<usize>(1..=1000))]
    busy: usize,
    /// How long the busy ones are measured each time (1 to 600, 3 by default); wins over --quick
    #[arg(long, value_name = "N", value_parser = seconds(1..=600))]
    secs: Option<Duration>,
    /// Servers started on each runtime, alternating (1 to 100, 3 by default); wins over --quick
    #[arg(long, value_name = "N", value_parser = number::<usize>(1..=100))]
    reps: Option<usize>,
    /// 1 server on each runtime, busy for 1 s
    #[arg(long)]
    quick: bool,
    /// gmp's Ps and tokio's workers (1 to 1024)
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = number::<usize>(1..=1024))]
    procs: usize,
    /// Also write one JSON object per line for each row
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// For the program's own use: be the server until standard input ends
    #[arg(long, value_name = "NAME", hide = true, value_parser = [Gmp::NAME, Tokio::NAME])]
    serve: Option<String>,
}

impl Options {
    fn duration(&self) -> Duration {
        self.secs.unwrap_or(Duration::from_secs(if self.quick { 1 } else { 3 }))
    }

    fn reps(&self) -> usize {
        self.reps.unwrap_or(if self.quick { 1 } else { 3 })
    }
}

fn main() -> ExitCode {
    let options = Options::parse();
    let result = match &options.serve {
        Some(name) if name == Gmp::NAME => serve::<Gmp>(options.procs),
        Some(_) => serve::<Tokio>(options.procs),
        None => run(&options),
    };
    cli::exit_code("idle_connections", result)
}

/// The server whose memory is measured: a process of its own, so that nothing else is in it.
fn serve<R: Io>(procs: usize) -> io::Result<()> {
    child::serve(&R::new(procs)?, echo::<R>)
}

/// Serves a connection as a service would, until the client has closed it.
async fn echo<R: Io>(mut stream: R::TcpStream) {
    let mut message = [0; 64];
    while stream.read_exact(&mut message).await.is_ok() && stream.write_all(&message).await.is_ok() {}
}

fn run(options: &Options) -> io::Result<()> {
    let mut json = JsonLines::create(options.json.as_deref())?;
    // The servers inherit the limit. Both sides have an end of every connection, and need a few
    // more descriptors.
    limits::allow_descriptors((options.idle + options.busy + 64) as u64)?;
    let sides: [&dyn Fn() -> _; 2] = [&|| measure(Gmp::NAME, options), &|| measure(Tokio::NAME, options)];
    let [gmp, tokio] = take_all(options.reps(), sides)?;
    header(options);
    for row in &ROWS {
        let [gmp, tokio] = [&gmp, &tokio].map(|runs| Samples::new(runs.iter().map(row.value).collect()).median());
        print(row, gmp, tokio);
        json.line(&Json {
            workload: row.name,
            unit: row.unit,
            gmp: rounded(gmp, 1),
            tokio: rounded(tokio, 1),
            ratio: rounded(gmp / tokio, 4),
            reps: options.reps(),
            procs: options.procs,
        })?;
    }
    Ok(())
}

struct Measured {
    bytes_per_connection: f64,
    alone: f64,
    beside_idle: f64,
}

fn measure(name: &str, options: &Options) -> io::Result<Measured> {
    let server = Server::start(&["--serve", name, "--procs", &options.procs.to_string()])?;
    let mut busy = clients::connect(server.address, options.busy)?;
    // Threads, buffers and caches that the work needs anyway must exist before memory is measured
    // for the first time.
    let alone = clients::keep_busy(&mut busy, options.duration())?;
    let before = resident(&server)?;
    let idle = clients::connect(server.address, options.idle)?;
    let after = resident(&server)?;
    let beside_idle = clients::keep_busy(&mut busy, options.duration())?;
    let bytes_per_connection = (after - before) / idle.len() as f64;
    Ok(Measured { bytes_per_connection, alone, beside_idle })
}

fn resident(server: &Server) -> io::Result<f64> {
    process::resident(Some(server.pid())).map(|bytes| bytes as f64)
}

struct Row {
    name: &'static str,
    unit: &'static str,
    value: fn(&Measured) -> f64,
    more_is_better: bool,
}

const ROWS: [Row; 3] = [
    Row { name: "idle_connection", unit: "bytes", value: |it| it.bytes_per_connection, more_is_better: false },
    Row { name: "busy_alone", unit: "echoes/s", value: |it| it.alone, more_is_better: true },
    Row { name: "busy_beside_idle", unit: "echoes/s", value: |it| it.beside_idle, more_is_better: true },
];

/// A row as JSON: the medians of the servers.
#[derive(Serialize)]
struct Json {
    workload: &'static str,
    unit: &'static str,
    gmp: f64,
    tokio: f64,
    ratio: f64,
    reps: usize,
    procs: usize,
}

fn header(options: &Options) {
    println!(
        "{} idle connections and {} busy ones, {} Ps and workers, medians of {} servers on each, alternating",
        options.idle,
        options.busy,
        options.procs,
        options.reps()
    );
    println!("memory is the server's RSS; ratio: gmp's median over tokio's\n");
    println!("{:<18}{:<10}{:>12}{:>12}{:>8}{:>10}  met", "row", "unit", "gmp", "tokio", "ratio", "wanted");
}

fn print(row: &Row, gmp: f64, tokio: f64) {
    let (cost, wanted) = if row.more_is_better { (tokio / gmp, ">= 1.00") } else { (gmp / tokio, "<= 1.00") };
    let met = if cost <= 1.0 { "yes" } else { "MISSED" };
    println!("{:<18}{:<10}{gmp:>12.0}{tokio:>12.0}{:>8.2}{wanted:>10}  {met}", row.name, row.unit, gmp / tokio);
}
