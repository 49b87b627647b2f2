//! Requests at a constant rate, whatever the server makes of them.
//!
//! Each request has a time when it is due, and its latency counts from there: a server that stalls
//! can't make the load wait with it. A client of its own, because there is little to do: HTTP/1.1
//! without TLS, one connection per thread, kept as long as the server keeps it. Those that there
//! are bring a runtime (tokio's, which would measure itself) or TLS along, or make a connection for
//! each request.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Signal, kill_process};

use super::measure::Folder;

/// How long an answer may take, how long the server's start and its end.
const PATIENCE: Duration = Duration::from_secs(10);
const START: Duration = Duration::from_secs(60);
const END: Duration = Duration::from_secs(5);

/// How many requests may be on their way at once.
const CONNECTIONS: u64 = 256;

/// What is asked, and how often.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Host and port.
    authority: String,
    request: String,
    rate: f64,
    count: u64,
}

/// How long the answers took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    sorted: Vec<Duration>,
    pub(crate) errors: u64,
}

impl Latencies {
    pub(crate) fn answered(&self) -> usize {
        self.sorted.len()
    }

    /// The latency within which that part of all answers came.
    pub(crate) fn quantile(&self, part: f64) -> Option<Duration> {
        let rank = (part * self.sorted.len() as f64).ceil() as usize;
        self.sorted.get(rank.saturating_sub(1)).copied()
    }
}

impl Load {
    pub(crate) fn new(url: &str, rate: f64, secs: f64) -> Result<Self> {
        let address = url.strip_prefix("http://").filter(|address| !address.starts_with(['/', ':']));
        let address = address.with_context(|| format!("`{url}` is not the address of a page (http://...)"))?;
        let (host, path) = address.split_at(address.find('/').unwrap_or(address.len()));
        let path = if path.is_empty() { "/" } else { path };
        ensure!(!address.contains(|c: char| c.is_whitespace() || c.is_control()), "`{url}` has spaces in it");
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        Ok(Load {
            authority: if has_port { host.to_owned() } else { format!("{host}:80") },
            request: format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: cargo-gmp\r\n\r\n"),
            rate,
            count: (rate * secs).ceil() as u64,
        })
    }

    /// Starts the server by `command`, waits for it, measures it and ends it.
    pub(crate) fn put_on(&self, mut command: Command, folder: &Folder) -> Result<Latencies> {
        if Connection::open(&self.authority).is_ok() {
            bail!("something answers at {} already", self.authority);
        }
        let mut child = command.spawn().context("can't start cargo")?;
        let latencies = self.wait_for(&mut child, folder).map(|()| self.send());
        end(&mut child, folder)?;
        latencies
    }

    fn wait_for(&self, child: &mut Child, folder: &Folder) -> Result<()> {
        // Compiling takes as long as it takes.
        let mut start = None;
        loop {
            ensure!(child.try_wait()?.is_none(), "the program ended before {} answered", self.authority);
            if folder.program().is_some() {
                let since = *start.get_or_insert_with(Instant::now);
                if Connection::open(&self.authority).and_then(|mut it| it.ask(&self.request)).is_ok() {
                    return Ok(());
                }
                ensure!(since.elapsed() < START, "{} doesn't answer", self.authority);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn send(&self) -> Latencies {
        let next = AtomicU64::new(0);
        // All threads are there when the first is due.
        let start = Instant::now() + Duration::from_millis(100);
        thread::scope(|scope| {
            let threads: Vec<_> =
                (0..CONNECTIONS.min(self.count)).map(|_| scope.spawn(|| self.send_some(start, &next))).collect();
            let mut all = Latencies::default();
            for thread in threads {
                let some = thread.join().expect("errors are counted");
                all.sorted.extend(some.sorted);
                all.errors += some.errors;
            }
            all.sorted.sort_unstable();
            all
        })
    }

    fn send_some(&self, start: Instant, next: &AtomicU64) -> Latencies {
        let mut latencies = Latencies::default();
        let mut connection = None;
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                return latencies;
            }
            let due = start + Duration::from_secs_f64(index as f64 / self.rate);
            thread::sleep(due.saturating_duration_since(Instant::now()));
            match self.ask_over(&mut connection) {
                Ok(()) => latencies.sorted.push(due.elapsed()),
                Err(_) => latencies.errors += 1,
            }
        }
    }

    /// A connection that the server has closed meanwhile is no error, one that can't be made is.
    fn ask_over(&self, connection: &mut Option<Connection>) -> io::Result<()> {
        let kept = connection.take().and_then(|mut kept| Some((kept.ask(&self.request).ok()?, kept)));
        let (is_kept, used) = match kept {
            Some(answer) => answer,
            None => {
                let mut new = Connection::open(&self.authority)?;
                (new.ask(&self.request)?, new)
            }
        };
        *connection = Some(used).filter(|_| is_kept);
        Ok(())
    }
}

/// Ctrl-C first, as at a terminal.
fn end(child: &mut Child, folder: &Folder) -> Result<()> {
    for (signal, patience) in [(Signal::INT, END), (Signal::KILL, PATIENCE)] {
        let Some(program) = folder.program().filter(|_| matches!(child.try_wait(), Ok(None))) else { break };
        // It may have ended just now.
        let _ = kill_process(program, signal);
        let deadline = Instant::now() + patience;
        while child.try_wait()?.is_none() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(10));
        }
    }
    if child.try_wait()?.is_none() {
        child.kill()?;
        child.wait()?;
    }
    Ok(())
}

struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(authority: &str) -> io::Result<Self> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "a name without an address");
        for address in authority.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, PATIENCE) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    stream.set_write_timeout(Some(PATIENCE))?;
                    return Ok(Connection(BufReader::new(stream)));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Whether the connection is good for another request. An answer that isn't good is an error.
    fn ask(&mut self, request: &str) -> io::Result<bool> {
        self.0.get_mut().write_all(request.as_bytes())?;
        let status = self.line()?;
        let code: u16 = status.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or_else(no_http)?;
        let (mut length, mut is_chunked, mut is_kept) = (None, false, status.starts_with("HTTP/1.1"));
        loop {
            let line = self.line()?.to_ascii_lowercase();
            let Some((name, value)) = line.split_once(':') else { break };
            match (name, value.trim()) {
                ("content-length", value) => length = Some(value.parse().map_err(|_| no_http())?),
                ("transfer-encoding", value) => is_chunked = value.ends_with("chunked"),
                ("connection", value) => is_kept = value != "close",
                _ => {}
            }
        }
        match length {
            _ if is_chunked => self.skip_chunks()?,
            _ if code == 204 || code == 304 => {}
            Some(length) => self.skip(length)?,
            None => {
                io::copy(&mut self.0, &mut io::sink())?;
                is_kept = false;
            }
        }
        if code < 400 { Ok(is_kept) } else { Err(io::Error::other(status)) }
    }

    fn skip_chunks(&mut self) -> io::Result<()> {
        loop {
            let line = self.line()?;
            let size = line.split(';').next().unwrap_or_default().trim();
            match u64::from_str_radix(size, 16).map_err(|_| no_http())? {
                0 => break,
                size => self.skip(size)?,
            }
            self.line()?;
        }
        // What may follow, up to an empty line.
        while !self.line()?.is_empty() {}
        Ok(())
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        let read = io::copy(&mut self.0.by_ref().take(length), &mut io::sink())?;
        if read == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        let limited = self.0.by_ref().take(64 * 1024).read_line(&mut line)?;
        if limited == 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(line.trim_end().to_owned()) }
    }
}

fn no_http() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "this is not HTTP/1")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that gives each request the next of `answers`, and closes after the last.
    fn server(answers: &'static [&'static str]) -> Load {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let load = Load::new(&format!("http://{}/a?b", listener.local_addr().unwrap()), 1000.0, 0.003).unwrap();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut requests = BufReader::new(stream);
            for answer in answers {
                let mut line = String::new();
                requests.read_line(&mut line).unwrap();
                assert_eq!(line, "GET /a?b HTTP/1.1\r\n");
                while line != "\r\n" {
                    line.clear();
                    requests.read_line(&mut line).unwrap();
                }
                requests.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        load
    }

    #[test]
    fn answers_of_every_length_are_read_to_their_end() {
        let load = server(&[
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n0\r\nA: b\r\n\r\n",
            "HTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nuntil the end",
        ]);
        let mut connection = Connection::open(&load.authority).unwrap();
        let mut ask = || connection.ask(&load.request);
        for _ in 0..3 {
            assert!(ask().unwrap());
        }
        assert_eq!(ask().unwrap_err().to_string(), "HTTP/1.1 404 Not Found");
        assert!(!ask().unwrap());
        assert!(ask().is_err());
    }

    #[test]
    fn each_request_is_answered_or_an_error() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let load = Load::new(&format!("http://{}", listener.local_addr().unwrap()), 1000.0, 0.1).unwrap();
        drop(listener);
        let latencies = load.send();
        assert_eq!((latencies.answered(), latencies.errors), (0, 100));
        assert_eq!(latencies.quantile(0.5), None);
    }

    #[test]
    fn quantiles_are_of_latencies_that_were() {
        let sorted = (1..=200).map(Duration::from_millis).collect();
        let latencies = Latencies { sorted, errors: 0 };
        let ms = |part| latencies.quantile(part).unwrap().as_millis();
        assert_eq!([ms(0.5), ms(0.99), ms(1.0)], [100, 198, 200]);
    }
}
