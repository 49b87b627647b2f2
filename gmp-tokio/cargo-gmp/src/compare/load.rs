//! Sends requests at a constant rate, however the server responds.
//!
//! Each request has a time when it is due, and its latency counts from that time: a server that
//! stalls can't delay the requests that follow. The client is written here because it is small:
//! HTTP/1.1 without TLS, with one connection per thread, kept as long as the server keeps it.
//! Existing clients need a runtime (tokio, which would measure itself) or TLS, or open a connection
//! for each request.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Signal, kill_process};

use super::measure::Folder;

/// The limits for an answer, for the server's start, and for its end.
const PATIENCE: Duration = Duration::from_secs(10);
const START: Duration = Duration::from_secs(60);
const END: Duration = Duration::from_secs(5);

/// The limit of requests that wait for an answer at the same time.
const CONNECTIONS: u64 = 256;

/// The request, its rate, and the number of requests.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    /// Host and port.
    authority: String,
    request: String,
    rate: f64,
    count: u64,
}

/// The latencies of all answers, and the number of requests without one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latencies {
    sorted: Vec<Duration>,
    pub(crate) errors: u64,
}

impl Latencies {
    pub(crate) fn answered(&self) -> usize {
        self.sorted.len()
    }

    /// The latency that this part of all answers did not exceed.
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

    /// Starts the server with `command`, waits until it answers, measures it, and ends it.
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
        // The limit counts from the program's start, because compiling may take any time.
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
        // The delay lets all threads start before the first request is due.
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

    /// Sends one request. If a kept connection fails, because the server has closed it, a new one
    /// is made; only a failure of a new connection is an error.
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

/// Ends the program: first with Ctrl-C, as at a terminal, then with SIGKILL.
fn end(child: &mut Child, folder: &Folder) -> Result<()> {
    for (signal, patience) in [(Signal::INT, END), (Signal::KILL, PATIENCE)] {
        let Some(program) = folder.program().filter(|_| matches!(child.try_wait(), Ok(None))) else { break };
        // The program may have ended just now, so an error is ignored.
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

    /// Sends the request. Returns whether the connection can be used again. A status of 400 or
    /// above is an error.
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
        // Trailers may follow the last chunk, up to an empty line.
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

    /// Starts a server that answers each request with the next of `answers`, and closes the
    /// connection after the last one.
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
