//! The address of a Unix socket.

use std::ffi::OsStr;
#[cfg(target_os = "android")]
use std::os::android::net::SocketAddrExt;
#[cfg(target_os = "linux")]
use std::os::linux::net::SocketAddrExt;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net;
use std::path::Path;
use std::{fmt, io};

use socket2::SockAddr;

/// The address of a Unix socket: a path, on Linux a name that is not a path ("abstract"), or
/// nothing ("unnamed").
///
/// To make an address, convert the standard library's, which has the constructors.
///
/// # Examples
///
/// ```
/// use gmp_io::net::unix::SocketAddr;
///
/// let address: SocketAddr = std::os::unix::net::SocketAddr::from_pathname("/run/service")?.into();
/// assert_eq!(address.as_pathname(), Some("/run/service".as_ref()));
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone)]
pub struct SocketAddr(net::SocketAddr);

impl SocketAddr {
    /// Whether it is the address of a socket that was not bound.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixDatagram;
    ///
    /// assert!(UnixDatagram::unbound()?.local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn is_unnamed(&self) -> bool {
        self.0.is_unnamed()
    }

    /// The path, if the address is one.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("socket");
    /// use gmp_io::net::UnixDatagram;
    ///
    /// let socket = UnixDatagram::bind(&path)?;
    /// assert_eq!(socket.local_addr()?.as_pathname(), Some(path.as_path()));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn as_pathname(&self) -> Option<&Path> {
        self.0.as_pathname()
    }

    /// The abstract name, if the address is one, without the NUL byte that the system puts before
    /// it.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn as_abstract_name(&self) -> Option<&[u8]> {
        self.0.as_abstract_name()
    }

    /// The address for a path, as on tokio: on Linux a leading NUL byte makes it an abstract name.
    pub(super) fn from_path(path: &Path) -> io::Result<SocketAddr> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let [0, name @ ..] = path.as_os_str().as_bytes() {
            return net::SocketAddr::from_abstract_name(name).map(SocketAddr);
        }
        net::SocketAddr::from_pathname(path).map(SocketAddr)
    }

    /// The closest address of the standard library. Linux lets a socket be bound to a path without
    /// room for a final NUL; the standard library can't represent such an address, so it becomes
    /// unnamed. Such a sender could not be answered by its path either.
    pub(super) fn from_socket2(address: &SockAddr) -> SocketAddr {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(Ok(address)) = address.as_abstract_namespace().map(net::SocketAddr::from_abstract_name) {
            return SocketAddr(address);
        }
        let path = address.as_pathname().map(net::SocketAddr::from_pathname);
        path.and_then(Result::ok).map_or_else(SocketAddr::unnamed, SocketAddr)
    }

    pub(super) fn unnamed() -> SocketAddr {
        SocketAddr(net::SocketAddr::from_pathname("").expect("an address without a path"))
    }

    /// An abstract name without a byte is none, as on tokio: the system chooses one for a socket that is
    /// bound to it.
    pub(super) fn to_socket2(&self) -> io::Result<SockAddr> {
        if let Some(path) = self.as_pathname() {
            return SockAddr::unix(path);
        }
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(name) = self.as_abstract_name().filter(|name| !name.is_empty()) {
            return SockAddr::unix(OsStr::from_bytes(&[b"\0", name].concat()));
        }
        SockAddr::unix(OsStr::new(""))
    }
}

impl fmt::Debug for SocketAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<net::SocketAddr> for SocketAddr {
    fn from(address: net::SocketAddr) -> Self {
        SocketAddr(address)
    }
}

impl From<SocketAddr> for net::SocketAddr {
    fn from(address: SocketAddr) -> Self {
        address.0
    }
}
