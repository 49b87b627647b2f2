//! An HTTP/1.1 connection, kept alive or opened again for every request.
//!
//! The sockets block, and only the heads are parsed by a crate (httparse, which is hyper's). Rejected:
//! hyper's client, which needs an executor or as many lines to do without; ureq, which opens a
//! connection only when the first request is due, and sends headers that the server then parses.

use std::fmt::Display;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The time after which a missing answer counts as an error.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A connection that the first request after an error opens again.
#[derive(Debug)]
pub(crate) struct Connection {
    addr: SocketAddr,
    stream: Option<TcpStream>,
    /// Whether the server is asked to close the connection after each answer.
    fresh: bool,
    buffer: Vec<u8>,
}

/// Why a request failed, in words: failures are counted by their words.
pub(crate) type Failure = String;

impl Connection {
    /// Connects to `addr`, for all requests or, if `fresh`, for one: the next one connects again.
    pub(crate) fn open(addr: SocketAddr, fresh: bool) -> io::Result<Self> {
        open(addr).map(|stream| Connection { addr, stream: Some(stream), fresh, buffer: Vec::new() })
    }

    /// Sends a request and reads the whole answer.
    pub(crate) fn get(&mut self, path: &str) -> Result<(), Failure> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => open(self.addr).map_err(|error| format!("cannot connect: {error}"))?,
        };
        let close = if self.fresh { "Connection: close\r\n" } else { "" };
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{close}\r\n", self.addr);
        stream.write_all(request.as_bytes()).map_err(no_answer)?;
        let head = read_answer(&mut stream, &mut self.buffer)?;
        self.stream = head.keep_alive.then_some(stream);
        if head.status == 200 { Ok(()) } else { Err(format!("the answer's status is {}", head.status)) }
    }
}

fn open(addr: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addr)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Reads a whole answer: its head, and as much as the head announces.
fn read_answer(stream: &mut impl Read, buffer: &mut Vec<u8>) -> Result<Head, Failure> {
    buffer.clear();
    loop {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk) {
            Ok(0) => return Err(no_answer(io::ErrorKind::UnexpectedEof.into())),
            Ok(read) => buffer.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(no_answer(error)),
        }
        if let Some(head) = Head::parse(buffer)?.filter(|head| buffer.len() >= head.whole) {
            return Ok(head);
        }
    }
}

fn no_answer(error: io::Error) -> Failure {
    format!("no answer: {error}")
}

fn malformed(what: impl Display) -> Failure {
    format!("the answer can't be read: {what}")
}

/// The contents of an answer's head.
#[derive(Debug)]
struct Head {
    /// The length of the whole answer, head included.
    whole: usize,
    status: u16,
    keep_alive: bool,
}

impl Head {
    /// Parses the head of an answer, once `buffer` holds all of it.
    fn parse(buffer: &[u8]) -> Result<Option<Self>, Failure> {
        let mut fields = [httparse::EMPTY_HEADER; 64];
        let mut response = httparse::Response::new(&mut fields);
        let httparse::Status::Complete(length) = response.parse(buffer).map_err(malformed)? else {
            return Ok(None);
        };
        let field = |name| response.headers.iter().find(|it| it.name.eq_ignore_ascii_case(name)).map(|it| it.value);
        let body = field("content-length").and_then(|value| std::str::from_utf8(value).ok()?.parse::<usize>().ok());
        Ok(Some(Head {
            whole: length + body.ok_or_else(|| malformed("it has no content-length"))?,
            status: response.code.unwrap_or_default(),
            keep_alive: !field("connection").is_some_and(|value| value.eq_ignore_ascii_case(b"close")),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_pieces_is_read_to_its_end_and_one_that_is_cut_short_is_an_error() {
        let (head, body) = ("HTTP/1.1 200 OK\r\ncontent-", "length: 5\r\n\r\nhello");
        let mut buffer = Vec::new();
        let mut pieces = head.as_bytes().chain(body.as_bytes());
        let answer = read_answer(&mut pieces, &mut buffer).unwrap();
        assert_eq!((answer.status, answer.keep_alive), (200, true));
        assert!(buffer.ends_with(b"\r\n\r\nhello"));
        let mut cut = head.as_bytes().chain(&body.as_bytes()[..15]);
        let failure = read_answer(&mut cut, &mut buffer).unwrap_err();
        assert!(failure.starts_with("no answer: "), "{failure}");
    }
}
