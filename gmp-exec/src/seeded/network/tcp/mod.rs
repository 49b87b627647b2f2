//! TCP: what each call answers, and what packets do (README.md, "The states of TCP").

mod arrivals;
mod connect;
mod names;
mod transfer;

pub(in crate::seeded) use names::is_here;

use super::flight::Packet;
use super::socket::{BOTH, Phase, Tcp};
use super::{Id, Kernel};

/// Whatever an entry asks for.
const ANY: u32 = u32::MAX;

impl Kernel<'_> {
    /// The socket is closed for both sides.
    fn finish(&mut self, id: Id) {
        let socket = self.socket(id);
        socket.tcp = Tcp::Closed;
        socket.shut = BOTH;
        socket.holds_port = socket.keeps_port();
        if socket.is_orphan {
            self.net.sockets.remove(&id);
        } else {
            self.event(id, ANY);
        }
    }

    /// Sends `Reset` to the peer, if there is a peer.
    fn reset_peer(&mut self, id: Id) {
        if let Some(to) = self.socket(id).peer {
            self.send_packet(id, Packet::Reset { to });
        }
    }

    fn reset_queue(&mut self, id: Id) {
        for connection in std::mem::take(&mut self.socket(id).queue) {
            self.reset_peer(connection);
            self.net.sockets.remove(&connection);
        }
    }

    /// The socket can be connected again.
    fn disconnect(&mut self, id: Id) {
        let was = self.socket(id).tcp;
        match was {
            Tcp::Listening => self.reset_queue(id),
            Tcp::SynSent => self.socket(id).error = libc::ECONNRESET,
            Tcp::Established | Tcp::CloseWait | Tcp::FinWait => {
                self.reset_peer(id);
                self.socket(id).error = libc::ECONNRESET;
            }
            Tcp::Closed | Tcp::Accepting => {}
        }
        let socket = self.socket(id);
        socket.tcp = Tcp::Closed;
        socket.phase = Phase::Unconnected;
        (socket.shut, socket.is_done, socket.unread) = (0, false, 0);
        (socket.peer, socket.remote) = (None, None);
        socket.received.clear();
        socket.holds_port &= was == Tcp::Closed || socket.keeps_port();
        let ip = socket.bound.map_or(socket.unspecified(), |bound| bound.ip());
        socket.local.iter_mut().for_each(|local| local.set_ip(ip));
        self.event(id, ANY);
    }

    pub(super) fn tcp_close(&mut self, id: Id) {
        let socket = self.socket(id);
        let resets = !socket.received.is_empty() || socket.options.resets_at_close;
        let (state, is_udp) = (socket.tcp, socket.is_udp);
        (socket.shut, socket.is_orphan) = (BOTH, true);
        socket.received.clear();
        match state {
            // Of a host that has crashed no socket tells its peer.
            _ if is_udp || self.is_down(id) => {
                self.net.sockets.remove(&id);
            }
            Tcp::Listening => {
                self.reset_queue(id);
                self.net.sockets.remove(&id);
            }
            Tcp::Established | Tcp::CloseWait | Tcp::FinWait if resets => {
                self.reset_peer(id);
                self.net.sockets.remove(&id);
            }
            Tcp::Established | Tcp::CloseWait => self.send_fin(id),
            Tcp::FinWait => {}
            Tcp::Closed | Tcp::SynSent | Tcp::Accepting => {
                self.net.sockets.remove(&id);
            }
        }
    }

    /// The socket sends nothing after this.
    fn send_fin(&mut self, id: Id) {
        let socket = self.socket(id);
        let (was, peer) = (socket.tcp, socket.peer);
        socket.tcp = Tcp::FinWait;
        if let Some(to) = peer {
            self.send_packet(id, Packet::Fin { to });
        }
        // The answer of a peer that knows no such connection may have ended the socket.
        if was == Tcp::CloseWait && self.net.sockets.contains_key(&id) {
            self.finish(id);
        }
    }
}
