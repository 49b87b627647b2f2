//! The example `serve` from outside: a process, real connections, signals.
//!
//! Cargo builds the examples before it runs a package's tests, unless single tests are selected
//! with `--test`.

#![cfg(unix)]

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use rustix::process::{Pid, Signal, kill_process};

/// Longer than anything here takes on the slowest machine.
const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn the_routes_answer() {
    let server = Server::start(&[]);
    assert_eq!(server.get("/"), (200, "hello\n".to_owned()));
    assert_eq!(server.get("/block?ms=1"), (200, "blocked its thread for 1ms\n".to_owned()));
    assert_eq!(server.get("/compute?ms=1"), (200, "computed for 1ms\n".to_owned()));
    assert_eq!(server.get("/metrics").0, 200);
    assert_eq!(server.get("/nowhere").0, 404);
}

#[test]
fn a_bad_query_gets_a_400_that_names_it_and_says_what_is_allowed() {
    let server = Server::start(&[]);
    for path in ["/block", "/compute"] {
        for value in ["abc", "-1", "1.5", "10001", "18446744073709551616", ""] {
            let (status, body) = server.get(&format!("{path}?ms={value}"));
            assert_eq!(status, 400, "{path} {value}");
            assert_eq!(body, format!("ms is {value:?}: it must be a whole number from 0 to 10000\n"));
        }
        for query in ["seconds=1", "ms=1&ms=2"] {
            let (status, body) = server.get(&format!("{path}?{query}"));
            assert_eq!(status, 400, "{path} {query}");
            assert!(body.contains("only `ms` is allowed"), "{body}");
        }
    }
}

#[test]
fn a_connection_is_kept_alive() {
    let server = Server::start(&[]);
    let mut stream = server.connect();
    for _ in 0..3 {
        request(&mut stream, "/").unwrap();
        assert_eq!(answer(&mut stream).unwrap().0, 200);
    }
}

#[test]
fn handlers_that_hold_their_thread_delay_no_other_request() {
    let server = Server::start(&["--procs", "1"]);
    let mut held: Vec<TcpStream> = ["/block?ms=10000", "/block?ms=10000", "/compute?ms=10000"]
        .map(|path| {
            let mut stream = server.connect();
            request(&mut stream, path).unwrap();
            stream
        })
        .into();
    server.wait_until_in_flight(3);
    for _ in 0..10 {
        assert_eq!(server.get("/").0, 200);
    }
    for stream in &mut held {
        stream.set_nonblocking(true).unwrap();
        let error = stream.read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock, "the handler was over before the others were answered");
    }
}

#[test]
fn no_thread_of_tokio_runs() {
    let server = Server::start(&["--procs", "2"]);
    assert_eq!(server.get("/").0, 200);
    let tasks = fs::read_dir(format!("/proc/{}/task", server.child.id())).unwrap();
    // A thread that has ended meanwhile has no name.
    let name = |task: io::Result<fs::DirEntry>| fs::read_to_string(task.unwrap().path().join("comm")).ok();
    let names: Vec<String> = tasks.filter_map(name).collect();
    assert!(names.len() > 1, "{names:?}");
    assert!(!names.iter().any(|name| name.contains("tokio")), "{names:?}");
}

#[test]
fn sigint_lets_a_request_in_flight_finish_and_exits_0() {
    let mut server = Server::start(&["--procs", "2"]);
    let mut idle = server.connect();
    request(&mut idle, "/").unwrap();
    assert_eq!(answer(&mut idle).unwrap().0, 200);
    let mut stream = server.connect();
    request(&mut stream, "/block?ms=5000").unwrap();
    server.wait_until_in_flight(1);

    server.signal(Signal::INT);
    assert_eq!(answer(&mut stream).unwrap(), (200, "blocked its thread for 5s\n".to_owned()));
    assert_eq!(server.wait().code(), Some(0));
    assert_eq!(idle.read(&mut [0]).unwrap(), 0, "the idle connection was closed");
}

#[test]
fn an_address_in_use_is_named_on_stderr_and_exits_1() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    let output = run(&["--addr", &addr]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(&format!("cannot listen on {addr}: Address")), "{stderr}");
}

#[test]
fn bad_arguments_are_named_with_what_is_allowed_and_exit_2() {
    for (arguments, named, allowed) in [
        (["--addr", "localhost"], "'localhost'", "HOST:PORT"),
        (["--procs", "0"], "'0'", "1..=1024"),
        (["--procs", "1025"], "'1025'", "1..=1024"),
        (["--procs", "two"], "'two'", "--procs <N>"),
        (["--sysmon", "maybe"], "'maybe'", "on, off"),
        (["--port", "80"], "'--port'", "Usage: serve [OPTIONS]"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(named) && stderr.contains(allowed), "{stderr}");
    }
}

/// A running `serve`, killed at the end of its test.
struct Server {
    child: Child,
    addr: SocketAddr,
}

impl Server {
    /// Starts it on a free port, and waits until it prints the port.
    fn start(arguments: &[&str]) -> Self {
        let mut child = serve().args(["--addr", "127.0.0.1:0"]).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let addr = line.trim().strip_prefix("listening on http://").expect(&line).parse().unwrap();
        Server { child, addr }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.addr).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// The status and the body.
    fn get(&self, path: &str) -> (u16, String) {
        let mut stream = self.connect();
        request(&mut stream, path).unwrap();
        answer(&mut stream).unwrap()
    }

    fn wait_until_in_flight(&self, handlers: usize) {
        let wanted = format!("serve_in_flight {handlers}\n");
        let deadline = Instant::now() + DEADLINE;
        while !self.get("/metrics").1.contains(&wanted) {
            assert!(Instant::now() < deadline, "the handlers did not start");
        }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "serve did not end");
            thread::yield_now();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process may have ended, or been waited for, already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `serve` to its end.
fn run(arguments: &[&str]) -> Output {
    serve().args(arguments).output().unwrap()
}

fn serve() -> Command {
    let path = example("serve");
    assert!(path.exists(), "{} is missing: `cargo build -p gmp-io --example serve` builds it", path.display());
    Command::new(path)
}

/// The folder where cargo puts examples: beside that of this test's executable.
fn example(name: &str) -> PathBuf {
    let deps = env::current_exe().unwrap().parent().unwrap().to_owned();
    deps.parent().unwrap().join("examples").join(name)
}

fn request(stream: &mut TcpStream, path: &str) -> io::Result<()> {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// Reads an answer: its status and its body.
fn answer(stream: &mut TcpStream) -> io::Result<(u16, String)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no status line: {line:?}")))?;
    let mut length = 0;
    while line != "\r\n" {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    String::from_utf8(body).map(|body| (status, body)).map_err(io::Error::other)
}
