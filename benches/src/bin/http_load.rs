//! A constant-rate HTTP/1.1 load generator.

use std::fmt::Display;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{io, thread};

use clap::Parser;
use gmp_benches::cli::{self, number, seconds};
use gmp_benches::http::{Connection, Holding, Load, Running, Seen, Tally};
use gmp_benches::process::{self, Cost};

/// Sends GET requests to an HTTP/1.1 server at a constant rate and prints latencies counted from
/// the due moments.
#[derive(Debug, Parser)]
struct Options {
    /// The server, an IP address and a port
    #[arg(long, value_name = "HOST:PORT")]
    addr: SocketAddr,
    /// The path that is measured
    #[arg(long, default_value = "/", value_parser = path)]
    path: String,
    /// Requests per second (1 to 1000000)
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = number::<u64>(1..=1_000_000))]
    rate: u64,
    /// How many seconds requests are due (1 to 86400)
    #[arg(long, value_name = "N", default_value = "10", value_parser = seconds(1..=86_400))]
    secs: Duration,
    /// The highest number of kept-alive connections (1 to 4096)
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = number::<usize>(1..=4096))]
    connections: usize,
    /// A second, busy path to request at the same time, such as '/block?ms=100'
    #[arg(long, value_name = "PATH", value_parser = path)]
    busy_path: Option<String>,
    /// The number of clients that request the busy path all the time, each again as soon as it has
    /// its answer (0 to 4096)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number::<usize>(0..=4096), requires = "busy_path")]
    busy_clients: usize,
    /// The percentage of the due requests that ask for the busy path instead (0 to 100)
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number::<u64>(0..=100), requires = "busy_path")]
    busy_percent: u64,
    /// Also print this process's threads and CPU time
    #[arg(long, value_name = "PID")]
    server_pid: Option<u32>,
}

fn path(value: &str) -> Result<String, &'static str> {
    let good = value.starts_with('/') && value.bytes().all(|byte| byte.is_ascii_graphic());
    if good { Ok(value.to_owned()) } else { Err("a path begins with `/` and has no blanks") }
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => cli::exit_code("http_load", Err(error)),
    }
}

/// Whether no request failed.
fn run(options: &Options) -> Result<bool, String> {
    for path in [Some(&options.path), options.busy_path.as_ref()].into_iter().flatten() {
        let failed = |why: &dyn Display| format!("http://{}{path}: {why}", options.addr);
        let mut connection = Connection::open(options.addr, false).map_err(|error| failed(&error))?;
        connection.get(path).map_err(|failure| failed(&failure))?;
    }
    let before = server_cost(options)?;
    let (measured, busy, elapsed) = send(options).map_err(|error| error.to_string())?;
    let after = server_cost(options)?;
    print(options, &measured, &busy, elapsed);
    if let (Some(before), Some(after)) = (before, after) {
        let cpu = (after.cpu - before.cpu).as_secs_f64();
        println!("server: {} threads at the end, {cpu:.2} s of CPU time", after.threads);
    }
    Ok(measured.answers.failed() + busy.failed() == 0)
}

fn server_cost(options: &Options) -> Result<Option<Cost>, String> {
    let cost = |pid| process::cost(Some(pid)).ok_or_else(|| format!("nothing is known of a process {pid}"));
    options.server_pid.map(cost).transpose()
}

/// Sends requests at their due moments while clients keep a path busy. Returns the results of the
/// due requests of the measured path, those of all requests of the busy one, and the time from the
/// first due moment to the last answer.
fn send(options: &Options) -> io::Result<(Seen, Tally, Duration)> {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let clients: Vec<_> = (0..options.busy_clients).map(|_| scope.spawn(|| keep_busy(options, &stop))).collect();
        let sent = Running::start(&load(options)).map(|running| {
            let start = running.measured_from();
            (running.finish(), start.elapsed())
        });
        stop.store(true, Relaxed);
        let mut busy = Tally::default();
        for client in clients {
            busy.add(&client.join().expect("a busy client's thread doesn't panic")?);
        }
        let ([measured, due], elapsed) = sent?;
        busy.add(&due.answers);
        Ok((measured, busy, elapsed))
    })
}

fn load(options: &Options) -> Load {
    let Options { addr, rate, connections, busy_percent: percent, .. } = *options;
    let busy = options.busy_path.clone().filter(|_| percent > 0);
    Load {
        addr,
        rate,
        warm_up: Duration::ZERO,
        duration: options.secs,
        fresh: false,
        path: options.path.clone(),
        connections,
        holding: busy.map(|path| Holding { path, percent, connections: 0 }),
    }
}

/// Requests the busy path again and again.
fn keep_busy(options: &Options, stop: &AtomicBool) -> io::Result<Tally> {
    let mut tally = Tally::default();
    let Some(path) = &options.busy_path else {
        return Ok(tally);
    };
    let mut connection = Connection::open(options.addr, false)?;
    while !stop.load(Relaxed) {
        let start = Instant::now();
        let result = connection.get(path);
        tally.record(start.elapsed(), result);
    }
    Ok(tally)
}

fn print(options: &Options, measured: &Seen, busy: &Tally, elapsed: Duration) {
    let Seen { answers, lateness, no_connection, .. } = measured;
    let (requests, secs) = (answers.requests(), elapsed.as_secs_f64());
    println!("{requests} requests of {} in {secs:.2} s, {} a second asked for", options.path, options.rate);
    println!("{:<24}{:>9}{:>9}{:>9}{:>9}{:>9}{:>8}", "latency in ms", "count", "p50", "p99", "p99.9", "max", "errors");
    print_row(&options.path, answers);
    options.busy_path.iter().for_each(|path| print_row(path, busy));
    print_row("sent late by", lateness);
    if *no_connection > 0 {
        println!("sent late because no connection was free: {no_connection}");
    }
    let mut errors = Tally::default();
    [answers, busy].iter().for_each(|tally| errors.add(tally));
    for (what, count) in errors.errors() {
        println!("error, {count} times: {what}");
    }
}

fn print_row(path: &str, tally: &Tally) {
    let [p50, p99, p99_9, max] = [50.0, 99.0, 99.9, 100.0].map(|percent| tally.millis_at(percent));
    let (requests, failed) = (tally.requests(), tally.failed());
    println!("{path:<24}{requests:>9}{p50:>9.2}{p99:>9.2}{p99_9:>9.2}{max:>9.2}{failed:>8}");
}
