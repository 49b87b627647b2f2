//! The kernel's descriptors in the kernel's epolls, so that an edge can be made.

use std::collections::BTreeMap;

use super::Kernel;
use crate::seeded::real;

/// Events and data, by epoll and descriptor.
pub(super) type Watched = BTreeMap<(i32, i32), libc::epoll_event>;

impl Kernel<'_> {
    /// The kernel has done that `epoll_ctl`.
    pub(in crate::seeded) fn watch(&mut self, epoll: i32, operation: i32, fd: i32, event: libc::epoll_event) {
        if operation == libc::EPOLL_CTL_DEL {
            self.net.watched.remove(&(epoll, fd));
        } else {
            self.net.watched.insert((epoll, fd), event);
        }
    }

    pub(super) fn forget_watched(&mut self, fd: i32) {
        self.net.watched.retain(|(epoll, other), _| *epoll != fd && *other != fd);
    }

    /// What the kernel's socket has received is an event again.
    pub(in crate::seeded) fn edge(&mut self, fd: i32) {
        const ONCE: u32 = libc::EPOLLONESHOT as u32;
        const INPUT: u32 = (libc::EPOLLIN | libc::EPOLLPRI | libc::EPOLLRDNORM | libc::EPOLLRDBAND) as u32;
        let socket = real::inode(fd);
        let asks = |event: &libc::epoll_event| event.events & ONCE == 0 && event.events & INPUT != 0;
        for ((epoll, other), event) in self.net.watched.iter().filter(|(_, event)| asks(event)) {
            if real::inode(*other) == socket {
                real::renew(*epoll, *other, *event);
            }
        }
    }

    /// How many of so many bytes a call that reads leaves for the next one.
    pub(in crate::seeded) fn unread(&mut self, count: usize) -> usize {
        if self.net.wish.is_simulated { self.net.wish.weather.unread(self.decisions, count) } else { 0 }
    }
}
