//! Bytes, and the end of them.

use super::{ANY, Tcp};
use crate::seeded::network::flight::Packet;
use crate::seeded::network::socket::{BOTH, Phase, READ, WRITE};
use crate::seeded::network::{Answer, Id, Kernel};

const READABLE: u32 = (libc::EPOLLIN | libc::EPOLLRDNORM) as u32;
const WRITABLE: u32 = (libc::EPOLLOUT | libc::EPOLLWRNORM) as u32;

impl Kernel<'_> {
    /// Sends as much as there is room for, or less if it `may_be_short`.
    pub(in crate::seeded) fn send(&mut self, id: Id, bytes: &[u8], may_be_short: bool) -> Answer<usize> {
        let socket = self.socket(id);
        match socket.tcp {
            Tcp::SynSent if socket.error == 0 => return Err(libc::EAGAIN),
            Tcp::Established | Tcp::CloseWait if socket.error == 0 && socket.shut & WRITE == 0 => {}
            _ => return Err(socket.take_error(libc::EPIPE)),
        }
        let room = socket.capacity().saturating_sub(socket.unread).min(bytes.len());
        if room == 0 && !bytes.is_empty() {
            return Err(libc::EAGAIN);
        }
        let left = if may_be_short { self.net.wish.weather.untaken(self.decisions, room) } else { 0 };
        let taken = room - left;
        let socket = self.socket(id);
        socket.unread += taken;
        if let Some(to) = socket.peer.filter(|_| taken > 0) {
            self.send_packet(id, Packet::Data { to, bytes: bytes[..taken].to_vec() });
            if self.net.wish.weather.resets(self.decisions) {
                self.break_off(id);
            }
        }
        if left > 0 {
            self.event(id, WRITABLE);
        }
        Ok(taken)
    }

    /// At most so many bytes. None: the end.
    pub(in crate::seeded) fn receive(&mut self, id: Id, most: usize, peeks: bool) -> Answer<Vec<u8>> {
        let socket = self.socket(id);
        if socket.tcp == Tcp::Listening {
            return Err(libc::ENOTCONN);
        }
        if socket.received.is_empty() {
            return self.nothing(id);
        }
        let count = socket.received.len().min(most);
        if peeks {
            return Ok(socket.received.range(..count).copied().collect());
        }
        let left = self.net.wish.weather.unread(self.decisions, count);
        let socket = self.socket(id);
        let bytes: Vec<u8> = socket.received.drain(..count - left).collect();
        let peer = socket.peer;
        if left > 0 {
            self.event(id, READABLE);
        }
        if let Some(peer) = peer {
            let becomes_writable =
                self.net.sockets.get_mut(&peer).is_some_and(|peer| peer.has_become_writable(bytes.len()));
            if becomes_writable {
                self.event(peer, WRITABLE);
            }
        }
        Ok(bytes)
    }

    fn nothing(&mut self, id: Id) -> Answer<Vec<u8>> {
        let socket = self.socket(id);
        match socket.tcp {
            _ if socket.is_done => Ok(Vec::new()),
            _ if socket.error != 0 => Err(socket.take_error(0)),
            _ if socket.shut & READ != 0 => Ok(Vec::new()),
            Tcp::Closed => Err(libc::ENOTCONN),
            _ => Err(libc::EAGAIN),
        }
    }

    /// `FIONREAD`.
    pub(in crate::seeded) fn available(&mut self, id: Id) -> Answer<usize> {
        let socket = self.socket(id);
        let next = socket.datagrams.front().map_or(0, |datagram| datagram.bytes.len());
        if socket.tcp == Tcp::Listening { Err(libc::EINVAL) } else { Ok(socket.received.len() + next) }
    }

    /// `SO_ERROR`.
    pub(in crate::seeded) fn take_socket_error(&mut self, id: Id) -> i32 {
        self.socket(id).take_error(0)
    }

    /// `SO_ACCEPTCONN`.
    pub(in crate::seeded) fn is_listening(&mut self, id: Id) -> bool {
        self.socket(id).tcp == Tcp::Listening
    }

    pub(in crate::seeded) fn shutdown(&mut self, id: Id, how: i32) -> Answer<()> {
        let directions = match how {
            libc::SHUT_RD => READ,
            libc::SHUT_WR => WRITE,
            libc::SHUT_RDWR => BOTH,
            _ => return Err(libc::EINVAL),
        };
        let socket = self.socket(id);
        if socket.phase == Phase::Connecting {
            let has_failed = matches!(socket.tcp, Tcp::SynSent | Tcp::Closed);
            socket.phase = if has_failed { Phase::Disconnecting } else { Phase::Connected };
        }
        match socket.tcp {
            Tcp::Listening | Tcp::SynSent if directions & READ != 0 || socket.tcp == Tcp::SynSent => {
                self.disconnect(id);
                return Ok(());
            }
            Tcp::Listening => {}
            _ => socket.shut |= directions,
        }
        let (answer, is_tcp) = (if socket.tcp == Tcp::Closed { Err(libc::ENOTCONN) } else { Ok(()) }, !socket.is_udp);
        if is_tcp && directions & WRITE != 0 && matches!(socket.tcp, Tcp::Established | Tcp::CloseWait) {
            self.send_fin(id);
        }
        self.event(id, ANY);
        answer
    }
}
