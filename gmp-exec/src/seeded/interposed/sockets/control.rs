//! Control messages of datagrams.

use std::ffi::c_int;
use std::mem::{offset_of, size_of};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The simulated network has one interface, as the kernel's loopback is the first one.
const INTERFACE: u32 = 1;

/// Where a datagram was sent to, the receiver's own address if that is another one, and whether the
/// program has asked for the form of IPv4 and for that of IPv6.
pub(super) type Destination = (SocketAddr, Option<Ipv4Addr>, [bool; 2]);

/// How long the datagrams are that the message is to be cut into (`UDP_SEGMENT`).
///
/// # Safety
///
/// The control messages are those of a valid message.
pub(super) unsafe fn segment_of(message: &libc::msghdr) -> usize {
    // SAFETY: the caller vouches for the message.
    let mut control = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: as above.
    while let Some(header) = unsafe { control.as_ref() } {
        if (header.cmsg_level, header.cmsg_type) == (libc::SOL_UDP, libc::UDP_SEGMENT) {
            // SAFETY: as above.
            let data = unsafe { libc::CMSG_DATA(control) };
            // SAFETY: as above. The data of this kind is of this type.
            return usize::from(unsafe { data.cast::<u16>().read_unaligned() }).max(1);
        }
        // SAFETY: as above.
        control = unsafe { libc::CMSG_NXTHDR(message, control) };
    }
    usize::MAX
}

/// Says where the datagram was sent to, in the form of IPv4 and in that of IPv6, as far as the program has
/// asked for the two. In a socket of IPv6, a datagram of IPv4 has both.
///
/// # Safety
///
/// The buffer of the message's control messages is valid.
pub(super) unsafe fn write_destination(message: &mut libc::msghdr, destination: Option<Destination>) {
    let room = std::mem::take(&mut message.msg_controllen);
    let Some((to, at, [tells_v4, tells_v6])) = destination else { return };
    if tells_v6 && let IpAddr::V6(ip) = to.ip() {
        let info = libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: ip.octets() }, ipi6_ifindex: INTERFACE };
        // SAFETY: the caller vouches for the buffer.
        unsafe { put(message, room, libc::IPPROTO_IPV6, libc::IPV6_PKTINFO, info) };
    }
    if tells_v4 && let IpAddr::V4(ip) = to.ip().to_canonical() {
        // SAFETY: as above.
        unsafe { put(message, room, libc::IPPROTO_IP, libc::IP_PKTINFO, info_of_v4(ip, at.unwrap_or(ip))) };
    }
}

fn info_of_v4(to: Ipv4Addr, at: Ipv4Addr) -> libc::in_pktinfo {
    let [to, at] = [to, at].map(|ip| libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) });
    libc::in_pktinfo { ipi_ifindex: INTERFACE as c_int, ipi_spec_dst: at, ipi_addr: to }
}

/// A control message in memory, of a type for which the kernel's alignment is enough.
#[repr(C)]
struct Control<T> {
    header: libc::cmsghdr,
    value: T,
}

/// Writes one message behind those that are there.
///
/// # Safety
///
/// The buffer has `room` bytes.
unsafe fn put<T>(message: &mut libc::msghdr, room: usize, level: c_int, kind: c_int, value: T) {
    let (used, length) = (message.msg_controllen, offset_of!(Control<T>, value) + size_of::<T>());
    if message.msg_control.is_null() || room - used < length {
        message.msg_flags |= libc::MSG_CTRUNC;
        return;
    }
    let header = libc::cmsghdr { cmsg_len: length, cmsg_level: level, cmsg_type: kind };
    let control = Control { header, value };
    let to = message.msg_control.cast::<u8>().wrapping_add(used);
    // SAFETY: there is room for so many bytes, and the control message has as many.
    unsafe { (&raw const control).cast::<u8>().copy_to_nonoverlapping(to, length) };
    message.msg_controllen = room.min(used + size_of::<Control<T>>());
}
