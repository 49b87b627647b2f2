//! UDP.

mod options;
mod peek;
mod recv;
mod send;

use std::net::{self, SocketAddr};
use std::{future, io};

use rustix::net::SocketAddrAny;
use socket2::Domain;

use crate::io::Ready;
use crate::net::ToSocketAddrs;
use crate::net::addr::first_that_works;
use crate::net::descriptor::{descriptor_traits, std_conversions};
use crate::net::readiness::readiness_methods;
use crate::reactor::Evented;
use crate::sys;

/// A UDP socket, which sends and receives datagrams.
///
/// There are two ways to use a socket. A socket that is only bound exchanges datagrams with any
/// address: [`send_to`](UdpSocket::send_to) and [`recv_from`](UdpSocket::recv_from) name the peer.
/// A [connected](UdpSocket::connect) socket exchanges datagrams with one address:
/// [`send`](UdpSocket::send) and [`recv`](UdpSocket::recv).
///
/// All methods take `&self`. To send and receive in different tasks, share the socket in an `Arc`;
/// there are no halves to split it into.
///
/// A call receives one datagram, and discards the part that does not fit into the buffer. A
/// datagram of zero bytes is received as `Ok(0)`; unlike with streams, that is not the end of
/// anything.
///
/// # Examples
///
/// One socket, many peers:
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::net::UdpSocket;
///
/// let server = UdpSocket::bind("127.0.0.1:0").await?;
/// let address = server.local_addr()?;
/// gmp_exec::spawn(async move {
///     let mut buf = [0; 1500];
///     while let Ok((n, peer)) = server.recv_from(&mut buf).await {
///         server.send_to(&buf[..n], peer).await?;
///     }
///     std::io::Result::Ok(())
/// });
///
/// let client = UdpSocket::bind("127.0.0.1:0").await?;
/// client.connect(address).await?;
/// client.send(b"hello").await?;
/// let mut answer = [0; 16];
/// let n = client.recv(&mut answer).await?;
/// assert_eq!(&answer[..n], b"hello");
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
///
/// One task that sends, another one that receives:
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use std::sync::Arc;
///
/// use gmp_io::net::UdpSocket;
///
/// let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await?);
/// socket.connect(socket.local_addr()?).await?; // to itself
///
/// let sender = Arc::clone(&socket);
/// gmp_exec::spawn(async move {
///     for i in 0..3 {
///         sender.send(&[i]).await?;
///     }
///     std::io::Result::Ok(())
/// });
/// for i in 0..3 {
///     let mut buf = [0; 1];
///     socket.recv(&mut buf).await?;
///     assert_eq!(buf, [i]);
/// }
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
pub struct UdpSocket {
    io: Evented<net::UdpSocket>,
}

readiness_methods! { UdpSocket, "socket", poll_recv_ready, poll_send_ready }

descriptor_traits! { UdpSocket }

std_conversions! {
    UdpSocket, net::UdpSocket, "socket", Evented::datagrams;

    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UdpSocket;
    /// use socket2::{Domain, Socket, Type};
    ///
    /// // An option that has to be set before the socket is bound.
    /// let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
    /// socket.set_reuse_address(true)?;
    /// socket.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], 0)).into())?;
    /// socket.set_nonblocking(true)?;
    /// let socket = UdpSocket::from_std(socket.into())?;
    /// # std::io::Result::Ok(())
    /// ```
    from_std;

    into_std;
}

impl UdpSocket {
    /// Binds a new socket to an address of this machine. Port 0 lets the system choose one: see
    /// [`local_addr`](UdpSocket::local_addr).
    ///
    /// If `addr` stands for several addresses, the first one that can be bound is used.
    ///
    /// # Errors
    ///
    /// The name can't be resolved, or no address can be bound: the error is the last address's.
    ///
    /// # Panics
    ///
    /// If there is no current runtime, or if its I/O is not enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_ne!(socket.local_addr()?.port(), 0, "the system has chosen a port");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        first_that_works(addr, |address| future::ready(UdpSocket::bound(address))).await
    }

    fn bound(address: SocketAddr) -> io::Result<UdpSocket> {
        let socket = sys::datagram_socket(Domain::for_address(address))?;
        socket.bind(&address.into())?;
        let socket = UdpSocket::new(socket.into())?;
        // Nothing has been sent, so there is room.
        socket.io.registration().assume_ready(Ready::WRITABLE);
        Ok(socket)
    }

    /// Connects the socket: from now on it sends to this address by default, and receives from this
    /// address only.
    ///
    /// No packet is sent. If `addr` stands for several addresses, the first one that the system
    /// accepts is used, which says nothing about whether a peer is listening there. Connecting
    /// again replaces the address.
    ///
    /// # Errors
    ///
    /// The name can't be resolved, or the system accepts no address: the error is the last
    /// address's.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// let address = socket.local_addr()?;
    /// socket.connect(address).await?;
    /// assert_eq!(socket.peer_addr()?, address);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        let socket = self.io.io();
        first_that_works(addr, |address| future::ready(socket.connect(address))).await
    }

    /// The address that the socket is bound to.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert!(socket.local_addr()?.ip().is_loopback());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().local_addr()
    }

    /// The address that the socket is connected to.
    ///
    /// # Errors
    ///
    /// The error of the system call: `NotConnected`.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// let error = socket.peer_addr().unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::NotConnected);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.io().peer_addr()
    }

    /// Takes the error that the system has stored for the socket (`SO_ERROR`), and clears it.
    ///
    /// If the socket is connected, this is how the system reports that no peer wanted a datagram;
    /// it may report that in the next operation instead.
    ///
    /// # Errors
    ///
    /// The error of the system call that asks.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::net::UdpSocket;
    ///
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// assert!(socket.take_error()?.is_none());
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.io().take_error()
    }
}

/// The number of bytes and the sender, as the system returned them.
fn sender((n, address): (usize, Option<SocketAddrAny>)) -> io::Result<(usize, SocketAddr)> {
    let address = address.ok_or_else(|| io::Error::other("sender not available"))?;
    Ok((n, SocketAddr::try_from(address)?))
}
