//! Programs that take for granted what no network promises.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

/// What was written at once is read at once.
pub(crate) fn whole_message() {
    let (mut client, mut server) = pair();
    client.write_all(b"ping").unwrap();
    let mut message = [0; 100];
    let length = server.read(&mut message).unwrap();
    assert_eq!(&message[..length], b"ping");
}

/// The same of a Unix socket.
pub(crate) fn whole_message_of_unix() {
    let (mut client, mut server) = UnixStream::pair().unwrap();
    client.write_all(b"ping").unwrap();
    let mut message = [0; 100];
    let length = server.read(&mut message).unwrap();
    assert_eq!(&message[..length], b"ping");
}

/// What was written first arrives first, on whichever connection.
pub(crate) fn order_of_connections() {
    let (mut first, mut second) = (pair(), pair());
    first.0.write_all(b"1").unwrap();
    second.0.write_all(b"2").unwrap();
    second.1.read_exact(&mut [0]).unwrap();
    first.1.set_nonblocking(true).unwrap();
    first.1.read_exact(&mut [0]).unwrap();
}
