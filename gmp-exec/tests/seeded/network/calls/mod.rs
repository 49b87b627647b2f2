//! Calls of sockets, with the answers in words.
#![allow(unsafe_code, reason = "calls the C library")]

pub(super) mod masked;
pub(super) mod sim;
pub(super) mod unix;

use std::io::Error;
use std::mem::{self, size_of};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;

pub(super) type Answer<T> = Result<T, i32>;

/// Of new sockets. Child processes of other tests must not keep them open.
const FLAGS: i32 = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;

fn answer(result: isize) -> Answer<isize> {
    if result < 0 { Err(Error::last_os_error().raw_os_error().unwrap()) } else { Ok(result) }
}

pub(super) fn socket(is_v6: bool, is_udp: bool) -> RawFd {
    let kind = if is_udp { libc::SOCK_DGRAM } else { libc::SOCK_STREAM };
    let domain = if is_v6 { libc::AF_INET6 } else { libc::AF_INET };
    // SAFETY: the call touches no memory.
    answer(unsafe { libc::socket(domain, kind | FLAGS, 0) } as isize).unwrap() as RawFd
}

/// One of UDP that shares its port.
pub(super) fn reusing_socket(is_v6: bool) -> RawFd {
    let fd = socket(is_v6, true);
    set_option(fd, libc::SO_REUSEADDR, &1).unwrap();
    fd
}

fn raw(address: SocketAddr) -> (libc::sockaddr_storage, u32) {
    // SAFETY: zeroes are a value of this type.
    let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
    match address {
        SocketAddr::V4(address) => {
            let ip = libc::in_addr { s_addr: u32::from(*address.ip()).to_be() };
            let raw = libc::sockaddr_in {
                sin_family: libc::AF_INET as u16,
                sin_port: address.port().to_be(),
                sin_addr: ip,
                sin_zero: [0; 8],
            };
            // SAFETY: there is room, and it is aligned.
            unsafe { (&raw mut storage).cast::<libc::sockaddr_in>().write(raw) };
            (storage, size_of::<libc::sockaddr_in>() as u32)
        }
        SocketAddr::V6(address) => {
            let raw = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as u16,
                sin6_port: address.port().to_be(),
                sin6_flowinfo: 0,
                sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                sin6_scope_id: 0,
            };
            // SAFETY: as above.
            unsafe { (&raw mut storage).cast::<libc::sockaddr_in6>().write(raw) };
            (storage, size_of::<libc::sockaddr_in6>() as u32)
        }
    }
}

fn parsed(storage: &libc::sockaddr_storage) -> SocketAddr {
    let at = &raw const *storage;
    if i32::from(storage.ss_family) == libc::AF_INET {
        // SAFETY: the kernel has written an address of this family.
        let raw = unsafe { at.cast::<libc::sockaddr_in>().read() };
        SocketAddr::new(IpAddr::from(u32::from_be(raw.sin_addr.s_addr).to_be_bytes()), u16::from_be(raw.sin_port))
    } else {
        // SAFETY: as above.
        let raw = unsafe { at.cast::<libc::sockaddr_in6>().read() };
        SocketAddr::new(IpAddr::from(raw.sin6_addr.s6_addr), u16::from_be(raw.sin6_port))
    }
}

pub(super) fn bind(fd: RawFd, address: SocketAddr) -> Answer<isize> {
    let (raw, length) = raw(address);
    // SAFETY: the pointer is valid for the length.
    answer(unsafe { libc::bind(fd, (&raw const raw).cast(), length) } as isize)
}

pub(super) fn connect(fd: RawFd, address: SocketAddr) -> Answer<isize> {
    let (raw, length) = raw(address);
    // SAFETY: as above.
    answer(unsafe { libc::connect(fd, (&raw const raw).cast(), length) } as isize)
}

pub(super) fn disconnect(fd: RawFd) -> Answer<isize> {
    // SAFETY: zeroes are a value of this type.
    let none: libc::sockaddr = unsafe { mem::zeroed() };
    // SAFETY: the pointer is valid for the length.
    answer(unsafe { libc::connect(fd, &raw const none, size_of::<libc::sockaddr>() as u32) } as isize)
}

pub(super) fn listen(fd: RawFd, backlog: i32) -> Answer<isize> {
    // SAFETY: the call touches no memory.
    answer(unsafe { libc::listen(fd, backlog) } as isize)
}

pub(super) fn accept(fd: RawFd) -> Answer<(RawFd, SocketAddr)> {
    named(|address, length| {
        // SAFETY: the pointers are valid.
        unsafe { libc::accept4(fd, address, length, FLAGS) }
    })
}

pub(super) fn local_name(fd: RawFd) -> Answer<SocketAddr> {
    // SAFETY: the pointers are valid.
    named(|address, length| unsafe { libc::getsockname(fd, address, length) }).map(|(_, name)| name)
}

pub(super) fn peer_name(fd: RawFd) -> Answer<SocketAddr> {
    // SAFETY: the pointers are valid.
    named(|address, length| unsafe { libc::getpeername(fd, address, length) }).map(|(_, name)| name)
}

fn named(call: impl FnOnce(*mut libc::sockaddr, *mut u32) -> i32) -> Answer<(i32, SocketAddr)> {
    let (result, storage, _) = with_name(call)?;
    Ok((result, parsed(&storage)))
}

/// What the call returns, and the address that it has written, with its length.
fn with_name(call: impl FnOnce(*mut libc::sockaddr, *mut u32) -> i32) -> Answer<(i32, libc::sockaddr_storage, usize)> {
    // SAFETY: zeroes are a value of this type.
    let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_storage>() as u32;
    let result = answer(call((&raw mut storage).cast(), &raw mut length) as isize)?;
    Ok((result as i32, storage, length as usize))
}

pub(super) fn send(fd: RawFd, bytes: &[u8]) -> Answer<isize> {
    // SAFETY: the pointer is valid for the length.
    answer(unsafe { libc::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) })
}

pub(super) fn send_to(fd: RawFd, bytes: &[u8], address: SocketAddr) -> Answer<isize> {
    let (raw, length) = raw(address);
    // SAFETY: the pointers are valid for the lengths.
    answer(unsafe { libc::sendto(fd, bytes.as_ptr().cast(), bytes.len(), 0, (&raw const raw).cast(), length) })
}

/// The bytes, and the address if there is one.
pub(super) fn receive_from(fd: RawFd, most: usize) -> Answer<(Vec<u8>, Option<SocketAddr>)> {
    let mut bytes = vec![0; most];
    // SAFETY: zeroes are a value of this type.
    let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_storage>() as u32;
    let (buffer, name) = (bytes.as_mut_ptr().cast(), (&raw mut storage).cast());
    // SAFETY: the pointers are valid for the lengths.
    let count = answer(unsafe { libc::recvfrom(fd, buffer, most, libc::MSG_TRUNC, name, &raw mut length) })?;
    bytes.truncate(count as usize);
    Ok((bytes, (length > 0).then(|| parsed(&storage))))
}

/// Sends datagrams of that length in one call.
pub(super) fn send_segments(fd: RawFd, bytes: &[u8], segment: u16) -> Answer<isize> {
    send_control(fd, bytes, (libc::SOL_UDP, libc::UDP_SEGMENT, segment.to_ne_bytes().to_vec()))
}

fn send_control(fd: RawFd, bytes: &[u8], (level, kind, data): Control) -> Answer<isize> {
    let mut control = [0_u64; 8];
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: zeroes are a value of this type.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    (message.msg_iov, message.msg_iovlen, message.msg_control) = (&raw mut part, 1, control.as_mut_ptr().cast());
    // SAFETY: the call touches no memory.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(data.len() as u32) } as usize;
    assert!(message.msg_controllen <= size_of_val(&control));
    // SAFETY: the message is valid.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    // SAFETY: the call touches no memory.
    let length = unsafe { libc::CMSG_LEN(data.len() as u32) } as usize;
    // SAFETY: there is room for it.
    unsafe { header.write(libc::cmsghdr { cmsg_len: length, cmsg_level: level, cmsg_type: kind }) };
    // SAFETY: as above.
    let to = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: as above.
    unsafe { to.copy_from_nonoverlapping(data.as_ptr(), data.len()) };
    // SAFETY: the message is valid.
    answer(unsafe { libc::sendmsg(fd, &raw const message, 0) })
}

/// A control message: level, kind and data.
type Control = (i32, i32, Vec<u8>);

/// The flags and the control messages of a datagram, for which there are `room` bytes.
pub(super) fn receive_control(fd: RawFd, room: usize) -> Answer<(i32, Vec<Control>)> {
    receive_message(fd, 16, room).map(|(_, flags, found)| (flags, found))
}

/// At most so many bytes, the flags, and the control messages, for which there are `room` bytes.
fn receive_message(fd: RawFd, most: usize, room: usize) -> Answer<(Vec<u8>, i32, Vec<Control>)> {
    let (mut control, mut bytes) = ([0_u64; 16], vec![0; most]);
    assert!(room <= size_of_val(&control));
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: zeroes are a value of this type.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    (message.msg_iov, message.msg_iovlen, message.msg_control) = (&raw mut part, 1, control.as_mut_ptr().cast());
    message.msg_controllen = room;
    // SAFETY: the message is valid.
    let count = answer(unsafe { libc::recvmsg(fd, &raw mut message, 0) })?;
    bytes.truncate(count as usize);
    let mut found = Vec::new();
    // SAFETY: the message is valid.
    let mut at = unsafe { libc::CMSG_FIRSTHDR(&raw const message) };
    // SAFETY: as above.
    while let Some(header) = unsafe { at.as_ref() } {
        // SAFETY: as above.
        let data = unsafe { libc::CMSG_DATA(at) };
        // SAFETY: the call touches no memory.
        let length = header.cmsg_len - unsafe { libc::CMSG_LEN(0) } as usize;
        // SAFETY: so long is the data of this header.
        let data = unsafe { std::slice::from_raw_parts(data, length) }.to_vec();
        found.push((header.cmsg_level, header.cmsg_type, data));
        // SAFETY: as above.
        at = unsafe { libc::CMSG_NXTHDR(&raw const message, at) };
    }
    Ok((bytes, message.msg_flags, found))
}

pub(super) fn switch_on(fd: RawFd, level: i32, name: i32) {
    let on = 1_i32;
    // SAFETY: the pointer is valid for the length.
    answer(unsafe { libc::setsockopt(fd, level, name, (&raw const on).cast(), 4) } as isize).unwrap();
}

pub(super) fn is_udp(fd: RawFd) -> bool {
    option(fd, libc::SO_TYPE) == Ok(libc::SOCK_DGRAM)
}

pub(super) fn write(fd: RawFd, bytes: &[u8]) -> Answer<isize> {
    // SAFETY: the pointer is valid for the length.
    answer(unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) })
}

pub(super) fn receive(fd: RawFd, most: usize, flags: i32) -> Answer<Vec<u8>> {
    let mut bytes = vec![0; most];
    // SAFETY: the pointer is valid for the length.
    let count = answer(unsafe { libc::recv(fd, bytes.as_mut_ptr().cast(), most, flags) })?;
    bytes.truncate(count as usize);
    Ok(bytes)
}

pub(super) fn read(fd: RawFd, most: usize) -> Answer<Vec<u8>> {
    let mut bytes = vec![0; most];
    // SAFETY: the pointer is valid for the length.
    let count = answer(unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), most) })?;
    bytes.truncate(count as usize);
    Ok(bytes)
}

pub(super) fn shutdown(fd: RawFd, how: i32) -> Answer<isize> {
    // SAFETY: the call touches no memory.
    answer(unsafe { libc::shutdown(fd, how) } as isize)
}

pub(super) fn close(fd: RawFd) -> Answer<isize> {
    // SAFETY: the caller has opened the descriptor.
    answer(unsafe { libc::close(fd) } as isize)
}

/// The number is the first free one from `least` on.
pub(super) fn dup(fd: RawFd, least: RawFd) -> RawFd {
    // SAFETY: the call touches no memory.
    unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, least) }
}

pub(super) fn set_blocking(fd: RawFd, is_blocking: bool) {
    let flags = if is_blocking { 0 } else { libc::O_NONBLOCK };
    // SAFETY: the call touches no memory.
    answer(unsafe { libc::fcntl(fd, libc::F_SETFL, flags) } as isize).unwrap();
}

pub(super) fn is_blocking(fd: RawFd) -> bool {
    // SAFETY: the call touches no memory.
    let flags = answer(unsafe { libc::fcntl(fd, libc::F_GETFL) } as isize).unwrap();
    flags as i32 & libc::O_NONBLOCK == 0
}

/// The same for all descriptors of a socket or file.
pub(super) fn inode(fd: RawFd) -> u64 {
    // SAFETY: zeroes are a value of this type.
    let mut about: libc::stat = unsafe { mem::zeroed() };
    // SAFETY: the pointer is valid.
    answer(unsafe { libc::fstat(fd, &raw mut about) } as isize).unwrap();
    about.st_ino
}

pub(super) fn available(fd: RawFd) -> Answer<i32> {
    let mut count = 0;
    // SAFETY: the pointer is valid.
    answer(unsafe { libc::ioctl(fd, libc::FIONREAD, &raw mut count) } as isize).map(|_| count)
}

pub(super) fn option(fd: RawFd, name: i32) -> Answer<i32> {
    let (mut value, mut length) = (0, 4);
    let to = (&raw mut value).cast();
    // SAFETY: the pointers are valid.
    answer(unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, name, to, &raw mut length) } as isize).map(|_| value)
}

pub(super) fn set_option<T>(fd: RawFd, name: i32, value: &T) -> Answer<isize> {
    let length = size_of::<T>() as u32;
    // SAFETY: the pointer is valid for the length.
    answer(unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, name, (&raw const *value).cast(), length) } as isize)
}

pub(super) fn poll(fd: RawFd) -> i16 {
    let mut fd = libc::pollfd { fd, events: libc::POLLIN | libc::POLLOUT | libc::POLLRDHUP, revents: 0 };
    // SAFETY: the pointer is valid for the length.
    unsafe { libc::poll(&raw mut fd, 1, 0) };
    fd.revents
}

pub(super) fn epoll() -> RawFd {
    // SAFETY: the call touches no memory.
    answer(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) } as isize).unwrap() as RawFd
}

pub(super) fn control(epoll: RawFd, operation: i32, fd: RawFd, events: u32, data: u64) -> Answer<isize> {
    let mut event = libc::epoll_event { events, u64: data };
    // SAFETY: the pointer is valid.
    answer(unsafe { libc::epoll_ctl(epoll, operation, fd, &raw mut event) } as isize)
}

/// Waits until there is an event, and does not take it.
pub(super) fn wait_for_events(epoll: RawFd) {
    let mut fd = libc::pollfd { fd: epoll, events: libc::POLLIN, revents: 0 };
    // SAFETY: the pointer is valid for the length.
    unsafe { libc::poll(&raw mut fd, 1, -1) };
}

pub(super) fn events(epoll: RawFd) -> Vec<(u64, u32)> {
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
    // SAFETY: the pointer is valid for the length.
    let count = answer(unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), 16, 0) } as isize).unwrap();
    events[..count as usize].iter().map(|event| (event.u64, event.events)).collect()
}
