use super::{gid_t, pid_t, uid_t};

/// Who is at the other end of a connection, from [`UnixStream::peer_cred`](super::UnixStream::peer_cred).
///
/// The system took it down when the connection was made; the process may have changed its user since, or be gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UCred {
    pub(crate) pid: Option<pid_t>,
    pub(crate) uid: uid_t,
    pub(crate) gid: gid_t,
}

impl UCred {
    /// The effective user.
    pub fn uid(&self) -> uid_t {
        self.uid
    }

    /// The effective group.
    pub fn gid(&self) -> gid_t {
        self.gid
    }

    /// The process, where the system tells. 0 is a process that this one can't see, in another namespace.
    pub fn pid(&self) -> Option<pid_t> {
        self.pid
    }
}
