//! Addresses, between the C library's form and std's.
#![allow(unsafe_code, reason = "reads and writes addresses behind pointers of the program's")]

use std::mem::{offset_of, size_of};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use super::Answer;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::seeded) enum Address {
    Internet(SocketAddr),
    /// `AF_UNSPEC`: no address.
    None,
    /// Of another family.
    Other,
}

/// # Errors
///
/// `EINVAL`: the address is too short for its family.
///
/// # Safety
///
/// The pointer is valid for the length.
pub(in crate::seeded) unsafe fn read_address(address: *const libc::sockaddr, length: u32) -> Answer<Address> {
    let length = length as usize;
    if length < offset_of!(libc::sockaddr, sa_data) {
        return Err(libc::EINVAL);
    }
    // SAFETY: the caller vouches for the pointer, which is long enough for this, and may be unaligned.
    match i32::from(unsafe { address.cast::<libc::sa_family_t>().read_unaligned() }) {
        libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
            // SAFETY: as above.
            let address = unsafe { address.cast::<libc::sockaddr_in>().read_unaligned() };
            let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            Ok(Address::Internet(SocketAddr::new(ip.into(), u16::from_be(address.sin_port))))
        }
        // Without the scope, which Linux lets out.
        libc::AF_INET6 if length >= offset_of!(libc::sockaddr_in6, sin6_scope_id) => {
            // SAFETY: zeroes are a value of this type.
            let mut whole: libc::sockaddr_in6 = unsafe { std::mem::zeroed() };
            let length = length.min(size_of::<libc::sockaddr_in6>());
            // SAFETY: both are valid for the length.
            unsafe { std::ptr::copy_nonoverlapping(address.cast::<u8>(), (&raw mut whole).cast(), length) };
            let (ip, port) = (Ipv6Addr::from(whole.sin6_addr.s6_addr), u16::from_be(whole.sin6_port));
            let info = u32::from_be(whole.sin6_flowinfo);
            Ok(Address::Internet(SocketAddrV6::new(ip, port, info, whole.sin6_scope_id).into()))
        }
        libc::AF_INET | libc::AF_INET6 => Err(libc::EINVAL),
        libc::AF_UNSPEC => Ok(Address::None),
        _ => Ok(Address::Other),
    }
}

/// Writes as many bytes of the address as there is room for, and behind `length` the length of all.
///
/// # Safety
///
/// The pointers are valid, the first one for the length behind the second one; or they are null.
pub(in crate::seeded) unsafe fn write_address(
    address: SocketAddr,
    to: *mut libc::sockaddr,
    length: *mut libc::socklen_t,
) {
    if to.is_null() || length.is_null() {
        return;
    }
    let bytes = match address {
        SocketAddr::V4(address) => bytes_of(&v4(address)).to_vec(),
        SocketAddr::V6(address) => bytes_of(&v6(address)).to_vec(),
    };
    // SAFETY: the caller vouches for the pointer.
    let room = bytes.len().min(unsafe { *length } as usize);
    // SAFETY: as above, and there is room.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), room) };
    // SAFETY: as above.
    unsafe { *length = bytes.len() as libc::socklen_t };
}

fn v4(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from(*address.ip()).to_be() },
        sin_zero: [0; 8],
    }
}

fn v6(address: SocketAddrV6) -> libc::sockaddr_in6 {
    libc::sockaddr_in6 {
        sin6_family: libc::AF_INET6 as libc::sa_family_t,
        sin6_port: address.port().to_be(),
        sin6_flowinfo: address.flowinfo().to_be(),
        sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
        sin6_scope_id: address.scope_id(),
    }
}

fn bytes_of<T>(value: &T) -> &[u8] {
    // SAFETY: called with addresses, which have no padding.
    unsafe { std::slice::from_raw_parts((&raw const *value).cast(), size_of::<T>()) }
}
