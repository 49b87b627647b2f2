//! Sockets, and addresses by name.

#![cfg(feature = "net")]

pub use gmp_io::net::{TcpListener, TcpSocket, TcpStream, ToSocketAddrs, lookup_host, tcp};
