use std::net::SocketAddr;

use super::TcpStream;
use super::peek::peeking_half;
use crate::net::halves::borrowed_halves;

borrowed_halves! { TcpStream, SocketAddr }
peeking_half! { ReadHalf<'_> }
