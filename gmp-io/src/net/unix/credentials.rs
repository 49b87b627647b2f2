//! The process at the other end of a connection.

use super::{gid_t, pid_t, uid_t};

/// The process at the other end of a connection, from
/// [`UnixStream::peer_cred`](super::UnixStream::peer_cred).
///
/// The system recorded this when the connection was made. Since then the process may have changed
/// its user, or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UCred {
    pub(crate) pid: Option<pid_t>,
    pub(crate) uid: uid_t,
    pub(crate) gid: gid_t,
}

impl UCred {
    /// The effective user.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, _myself) = UnixStream::pair()?;
    /// assert_eq!(stream.peer_cred()?.uid(), rustix::process::getuid().as_raw());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// The effective group.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, _myself) = UnixStream::pair()?;
    /// assert_eq!(stream.peer_cred()?.gid(), rustix::process::getgid().as_raw());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// The process, where the system tells. 0 is a process in another namespace, which this process
    /// can't see.
    ///
    /// # Examples
    ///
    /// ```
    /// # let runtime = gmp_exec::runtime::Runtime::new()?;
    /// # let _guard = runtime.enter();
    /// use gmp_io::net::UnixStream;
    ///
    /// let (stream, _myself) = UnixStream::pair()?;
    /// assert_eq!(stream.peer_cred()?.pid(), Some(std::process::id() as i32));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn pid(&self) -> Option<pid_t> {
        self.pid
    }
}
