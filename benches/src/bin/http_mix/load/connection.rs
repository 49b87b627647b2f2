//! An HTTP/1.1 connection, kept alive or opened again for every request.
//!
//! The sockets block, and only the heads are parsed by a crate (httparse, which is hyper's).
//! Rejected: hyper's client, which needs an executor or as many lines to do without; ureq, which
//! opens a connection only when the first request is due, and sends headers that the server then
//! parses.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use httparse::{EMPTY_HEADER, Response, Status};

/// The time after which a missing answer counts as an error.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A connection that the first request after an error opens again.
pub(crate) struct Connection {
    addr: SocketAddr,
    stream: Option<TcpStream>,
    /// Whether the server is asked to close the connection after each answer.
    fresh: bool,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects to `addr`, for all requests or, if `fresh`, for one: the next one connects again.
    pub(crate) fn open(addr: SocketAddr, fresh: bool) -> io::Result<Self> {
        open(addr).map(|stream| Connection { addr, stream: Some(stream), fresh, buffer: Vec::new() })
    }

    pub(crate) fn get(&mut self, path: &str) -> Result<()> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => open(self.addr).context("cannot connect")?,
        };
        let close = if self.fresh { "Connection: close\r\n" } else { "" };
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{close}\r\n", self.addr);
        stream.write_all(request.as_bytes()).context("no answer")?;
        let (status, keep_alive) = read_answer(&mut stream, &mut self.buffer)?;
        self.stream = keep_alive.then_some(stream);
        ensure!(status == 200, "the answer's status is {status}");
        Ok(())
    }
}

fn open(addr: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addr)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Reads a whole answer: its head, and as much as the head announces. Returns the status, and
/// whether the connection stays open.
fn read_answer(stream: &mut impl Read, buffer: &mut Vec<u8>) -> Result<(u16, bool)> {
    buffer.clear();
    loop {
        let mut chunk = [0; 4096];
        match stream.read(&mut chunk) {
            Ok(0) => bail!("no answer: {}", io::Error::from(io::ErrorKind::UnexpectedEof)),
            Ok(read) => buffer.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("no answer"),
        }
        let mut fields = [EMPTY_HEADER; 64];
        let mut head = Response::new(&mut fields);
        if let Status::Complete(length) = head.parse(&buffer[..]).context("the answer can't be read")? {
            let field = |name| head.headers.iter().find(|it| it.name.eq_ignore_ascii_case(name)).map(|it| it.value);
            let body = field("content-length").and_then(|value| std::str::from_utf8(value).ok()?.parse::<usize>().ok());
            if buffer.len() >= length + body.context("the answer can't be read: it has no content-length")? {
                let keep_alive = !field("connection").is_some_and(|value| value.eq_ignore_ascii_case(b"close"));
                return Ok((head.code.unwrap_or_default(), keep_alive));
            }
        }
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
        assert_eq!(read_answer(&mut pieces, &mut buffer).unwrap(), (200, true));
        assert!(buffer.ends_with(b"\r\n\r\nhello"));
        let mut cut = head.as_bytes().chain(&body.as_bytes()[..15]);
        let failure = read_answer(&mut cut, &mut buffer).unwrap_err();
        assert!(failure.to_string().starts_with("no answer: "), "{failure}");
    }
}
