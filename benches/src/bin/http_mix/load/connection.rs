//! An HTTP/1.1 connection, kept alive or opened again for every request.
//!
//! The sockets block, and only the heads are parsed by a crate (httparse, which is hyper's).
//! Rejected: hyper's client, which needs an executor or as many lines to do without; ureq, which
//! opens a connection only when the first request is due, and sends headers that the server then
//! parses.

use std::io::{self, IoSliceMut, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, bail, ensure};
use httparse::{EMPTY_HEADER, Response, Status};
use nix::cmsg_space;
use nix::sys::socket::sockopt::ReceiveTimestampns;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;

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

    /// Returns how long the end of the answer had been at the socket before this thread read it, if
    /// the kernel says so.
    pub(crate) fn get(&mut self, path: &str) -> Result<Option<Duration>> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => open(self.addr).context("cannot connect")?,
        };
        let close = if self.fresh { "Connection: close\r\n" } else { "" };
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{close}\r\n", self.addr);
        stream.write_all(request.as_bytes()).context("no answer")?;
        let mut arrivals = Arrivals { stream: &stream, last: None };
        let (status, keep_alive) = read_answer(&mut arrivals, &mut self.buffer)?;
        let unread = arrivals.last.map(|arrival| arrival.elapsed().unwrap_or_default());
        self.stream = keep_alive.then_some(stream);
        ensure!(status == 200, "the answer's status is {status}");
        Ok(unread)
    }
}

fn open(addr: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(addr)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    setsockopt(&stream, ReceiveTimestampns, &true)?;
    Ok(stream)
}

/// Makes the kernel note when it receives packets. It does so while any socket asks for it, and
/// begins a moment later. So this asks until the returned socket is dropped, and returns once the
/// kernel has begun. It uses TCP, because for a datagram that came before it had begun, the kernel
/// would give the time of the reading.
pub(crate) fn note_arrivals() -> Result<TcpStream> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let socket = open(listener.local_addr()?)?;
    let (mut peer, _) = listener.accept()?;
    let deadline = Instant::now() + TIMEOUT;
    while Instant::now() < deadline {
        peer.write_all(b"?")?;
        if receive(&socket, &mut [0; 1])?.1.is_some() {
            return Ok(socket);
        }
    }
    bail!("the kernel does not say when packets arrive")
}

/// Receives, and says when the kernel received the last packet of that, by its clock
/// (SO_TIMESTAMPNS in socket(7)).
fn receive(socket: &impl AsRawFd, buffer: &mut [u8]) -> io::Result<(usize, Option<SystemTime>)> {
    let (mut parts, mut control) = ([IoSliceMut::new(buffer)], cmsg_space!(TimeSpec));
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::empty())?;
    let arrival = message.cmsgs()?.find_map(|part| match part {
        ControlMessageOwned::ScmTimestampns(at) => Some(SystemTime::UNIX_EPOCH + Duration::from(at)),
        _ => None,
    });
    Ok((message.bytes, arrival))
}

/// Reads from a socket, and notes when the kernel received what was read last. The reading thread
/// shares the cores with the server and may have to wait for one, which is not the server's fault.
struct Arrivals<'a> {
    stream: &'a TcpStream,
    /// `None`: the kernel has not said.
    last: Option<SystemTime>,
}

impl Read for Arrivals<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (bytes, arrival) = receive(self.stream, buffer)?;
        self.last = arrival;
        Ok(bytes)
    }
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
    use std::thread;

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

    /// The client is busy with something else when the answer comes.
    #[test]
    fn the_time_of_arrival_does_not_depend_on_when_the_answer_is_read() {
        const BUSY: Duration = Duration::from_millis(50);
        let _noting = note_arrivals().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = open(listener.local_addr().unwrap()).unwrap();
        listener.accept().unwrap().0.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        thread::sleep(BUSY);
        let mut arrivals = Arrivals { stream: &client, last: None };
        assert_eq!(read_answer(&mut arrivals, &mut Vec::new()).unwrap(), (200, true));
        let unread = arrivals.last.unwrap().elapsed().unwrap();
        assert!(unread >= BUSY, "{unread:?}");
    }
}
