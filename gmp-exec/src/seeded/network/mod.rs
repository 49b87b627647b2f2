//! The simulated network: sockets whose answers follow from the seed (README.md).

mod address;
mod epoll;
mod flight;
mod hosts;
mod links;
mod placeholder;
mod ports;
mod socket;
mod tcp;
mod udp;
mod watched;
mod weather;
mod wish;

use std::collections::{BTreeMap, BTreeSet};

pub(super) use address::{Address, read_address, write_address};
pub(super) use hosts::Number as Host;
pub(super) use links::Way;
pub(super) use placeholder::{copy_options, timeout};
pub(super) use tcp::is_here;
pub(super) use udp::Datagram;
pub(super) use wish::{Wish, parse};

use super::decisions::Decisions;
use super::state::{State, own};
use epoll::Epoll;
use flight::Flight;
use links::Links;
use ports::Ports;
use socket::Socket;
use watched::Watched;

/// Of a socket or an epoll, never used again.
type Id = u64;
/// The other side is an `errno`.
pub(super) type Answer<T> = Result<T, i32>;

#[derive(Debug)]
pub(super) struct Network {
    pub(super) wish: Wish,
    descriptors: BTreeMap<i32, Id>,
    sockets: BTreeMap<Id, Socket>,
    epolls: BTreeMap<Id, Epoll>,
    watched: Watched,
    last_id: Id,
    flight: Flight,
    ports: Ports,
    hosts: Vec<hosts::Host>,
    links: Links,
    /// What was asked for, and is elsewhere.
    pub(super) refused: BTreeSet<String>,
}

/// The network in the turn of a thread.
#[derive(Debug)]
pub(super) struct Kernel<'a> {
    net: &'a mut Network,
    decisions: &'a mut Decisions,
    now: u64,
    /// Of the thread.
    host: Host,
}

impl State {
    pub(super) fn kernel(&mut self) -> Kernel<'_> {
        let host = self.threads[own()].host;
        Kernel { net: &mut self.network, decisions: &mut self.decisions, now: self.now, host }
    }
}

impl Network {
    pub(super) fn new(wish: Wish) -> Network {
        Network {
            wish,
            descriptors: BTreeMap::new(),
            sockets: BTreeMap::new(),
            epolls: BTreeMap::new(),
            watched: Watched::new(),
            last_id: 0,
            flight: Flight::default(),
            ports: Ports::default(),
            hosts: vec![hosts::Host::new(String::new())],
            links: Links::default(),
            refused: BTreeSet::new(),
        }
    }

    fn new_id(&mut self) -> Id {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn is_simulated(&self, fd: i32) -> bool {
        self.socket_at(fd).is_some()
    }

    fn socket_at(&self, fd: i32) -> Option<Id> {
        self.descriptors.get(&fd).copied().filter(|id| self.sockets.contains_key(id))
    }

    /// What is ready at a simulated socket, or at an epoll with simulated sockets that are ready.
    pub(super) fn poll(&self, fd: i32, wanted: i16) -> Option<i16> {
        let id = self.descriptors.get(&fd)?;
        if let Some(epoll) = self.epolls.get(id) {
            return self.has_events(epoll).then_some(wanted & libc::POLLIN).filter(|ready| *ready != 0);
        }
        let always = libc::POLLERR | libc::POLLHUP;
        Some(self.sockets.get(id)?.ready() as i16 & (wanted | always))
    }

    /// When the next packet arrives.
    pub(super) fn next_arrival(&self) -> Option<u64> {
        self.flight.next_arrival()
    }

    /// `dup`.
    pub(super) fn duplicate(&mut self, fd: i32, new: i32) {
        if let Some(&id) = self.descriptors.get(&fd) {
            self.descriptors.insert(new, id);
        }
    }
}

impl Kernel<'_> {
    /// The placeholder is open.
    pub(super) fn open_socket(&mut self, fd: i32, is_v6: bool, is_udp: bool) {
        let id = self.net.new_id();
        self.net.sockets.insert(id, Socket::new(self.host, is_v6, is_udp, placeholder::options(fd)));
        self.name(fd, id);
    }

    pub(super) fn open_epoll(&mut self, fd: i32) {
        let id = self.net.new_id();
        self.net.epolls.insert(id, Epoll::default());
        self.name(fd, id);
    }

    /// The number may be that of a descriptor that was closed by a system call.
    fn name(&mut self, fd: i32, id: Id) {
        self.close(fd);
        self.net.descriptors.insert(fd, id);
    }

    /// Before the kernel's descriptor is closed.
    pub(super) fn close(&mut self, fd: i32) {
        self.forget_watched(fd);
        let Some(id) = self.net.descriptors.remove(&fd) else { return };
        if self.net.descriptors.values().any(|other| *other == id) {
            return;
        }
        self.net.epolls.remove(&id);
        self.net.epolls.values_mut().for_each(|epoll| epoll.forget(id));
        if self.net.sockets.contains_key(&id) {
            self.tcp_close(id);
        }
    }

    /// The socket becomes the kernel's. Returns the entries of epolls that were its, by their
    /// descriptors.
    pub(super) fn give_to_kernel(&mut self, fd: i32) -> Vec<(i32, i32, libc::epoll_event)> {
        let Some(id) = self.net.socket_at(fd) else { return Vec::new() };
        let mut entries = Vec::new();
        for (epoll_id, epoll) in &self.net.epolls {
            let epoll_fd = self.net.descriptors.iter().find(|(_, other)| *other == epoll_id);
            entries.extend(epoll_fd.into_iter().flat_map(|(&fd, _)| epoll.entries_of(id, fd)));
        }
        self.net.epolls.values_mut().for_each(|epoll| epoll.forget(id));
        self.net.sockets.remove(&id);
        self.net.descriptors.retain(|_, other| *other != id);
        entries
    }

    /// An option was set.
    pub(super) fn read_options(&mut self, fd: i32) {
        if let Some(socket) = self.socket_mut(fd) {
            socket.options = placeholder::options(fd);
        }
    }

    fn socket_mut(&mut self, fd: i32) -> Option<&mut Socket> {
        let id = self.net.socket_at(fd)?;
        self.net.sockets.get_mut(&id)
    }

    pub(super) fn id(&self, fd: i32) -> Answer<Id> {
        self.net.socket_at(fd).ok_or(libc::EBADF)
    }

    fn socket(&mut self, id: Id) -> &mut Socket {
        self.net.sockets.get_mut(&id).expect("a socket that is named exists")
    }

    /// An event of the socket: entries that ask for one of these are listed.
    fn event(&mut self, id: Id, events: u32) {
        self.net.epolls.values_mut().for_each(|epoll| epoll.event(id, events));
    }
}
