//! The options of a connection.

use std::io;
use std::time::Duration;

use socket2::SockRef;

use super::TcpStream;

impl TcpStream {
    /// Whether small writes are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.io().nodelay()
    }

    /// Sends small writes at once, instead of holding them back until the peer has acknowledged the ones before (Nagle's
    /// algorithm). What answers short requests wants this.
    ///
    /// # Errors
    ///
    /// The system's.
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
    /// The system's.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn quickack(&self) -> io::Result<bool> {
        SockRef::from(self).tcp_quickack()
    }

    /// Acknowledges received data at once. Not for good: the kernel goes back to delaying when it sees fit.
    ///
    /// # Errors
    ///
    /// The system's.
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

    /// For how long closing waits until everything is sent (`SO_LINGER`); `None`: it doesn't wait.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        SockRef::from(self).linger()
    }

    /// Makes closing wait until everything is sent, at most for so long (whole seconds).
    ///
    /// # Errors
    ///
    /// The system's.
    #[deprecated = "closing the socket then blocks the thread that drops it; use `set_zero_linger` to reset the connection"]
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        SockRef::from(self).set_linger(dur)
    }

    /// Makes closing reset the connection: what is not yet sent is thrown away and the peer sees an error.
    ///
    /// # Errors
    ///
    /// The system's.
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

    /// How many routers a packet may pass (`IP_TTL`).
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.io().ttl()
    }

    /// Sets how many routers a packet may pass.
    ///
    /// # Errors
    ///
    /// The system's.
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
