//! The socket options of a connection.

use std::io;
use std::time::Duration;

use socket2::SockRef;

use super::TcpStream;

impl TcpStream {
    /// Whether small writes are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let stream = gmp_io::net::TcpStream::connect(address).await?;
    /// assert!(!stream.nodelay()?, "off by default");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.io().nodelay()
    }

    /// Sets whether small writes are sent at once. Otherwise the system holds them back until the
    /// peer has acknowledged earlier ones (Nagle's algorithm), which delays answers to short
    /// requests.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = gmp_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// stream.set_nodelay(true)?;
    /// assert!(stream.nodelay()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.io().set_nodelay(nodelay)
    }

    /// Whether received data is acknowledged at once (`TCP_QUICKACK`).
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let stream = gmp_io::net::TcpStream::connect(address).await?;
    /// stream.set_quickack(false)?;
    /// assert!(!stream.quickack()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn quickack(&self) -> io::Result<bool> {
        SockRef::from(self).tcp_quickack()
    }

    /// Sets whether received data is acknowledged at once. Not permanent: the kernel returns to
    /// delayed acknowledgements when it sees fit.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = gmp_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// stream.set_quickack(true)?;
    /// assert!(stream.quickack()?);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        SockRef::from(self).set_tcp_quickack(quickack)
    }

    /// How long closing waits until everything is sent (`SO_LINGER`). `None`: closing does not
    /// wait.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let stream = gmp_io::net::TcpStream::connect(address).await?;
    /// assert_eq!(stream.linger()?, None, "off by default");
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        SockRef::from(self).linger()
    }

    /// Makes closing wait until everything is sent, at most for `dur` (whole seconds).
    ///
    /// # Errors
    ///
    /// The error of the system call.
    #[deprecated = "closing the socket then blocks the thread that drops it; use `set_zero_linger` to reset the connection"]
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        SockRef::from(self).set_linger(dur)
    }

    /// Makes closing reset the connection: data that is not sent yet is discarded, and the peer
    /// gets an error.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = gmp_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// stream.set_zero_linger()?;
    /// assert_eq!(stream.linger()?, Some(std::time::Duration::ZERO));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_zero_linger(&self) -> io::Result<()> {
        SockRef::from(self).set_linger(Some(Duration::ZERO))
    }

    /// The number of routers that a packet may pass (`IP_TTL`).
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let address = listener.local_addr()?;
    /// # let stream = gmp_io::net::TcpStream::connect(address).await?;
    /// assert!(stream.ttl()? > 0);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.io().ttl()
    }

    /// Sets the number of routers that a packet may pass.
    ///
    /// # Errors
    ///
    /// The error of the system call.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let stream = gmp_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// stream.set_ttl(123)?;
    /// assert_eq!(stream.ttl()?, 123);
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.io().set_ttl(ttl)
    }
}
