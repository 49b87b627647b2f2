use super::{SocketAddr, UnixStream};
use crate::net::halves::borrowed_halves;

borrowed_halves! { UnixStream, SocketAddr }
