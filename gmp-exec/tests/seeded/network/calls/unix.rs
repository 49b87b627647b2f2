//! The same of Unix sockets.

use std::mem::{self, offset_of, size_of};
use std::os::fd::RawFd;

use super::{Answer, FLAGS, answer, option, receive_message, send_control, with_name};

/// The bytes of an address: a path, or a 0 and an abstract name. None: no name, and `bind` chooses one.
type Name<'a> = &'a [u8];

const PATH: usize = offset_of!(libc::sockaddr_un, sun_path);

pub(crate) fn socket(kind: i32) -> RawFd {
    // SAFETY: the call touches no memory.
    answer(unsafe { libc::socket(libc::AF_UNIX, kind | FLAGS, 0) } as isize).unwrap() as RawFd
}

pub(crate) fn pair(kind: i32) -> [RawFd; 2] {
    let mut pair = [0; 2];
    // SAFETY: the pointer is valid for two numbers.
    answer(unsafe { libc::socketpair(libc::AF_UNIX, kind | FLAGS, 0, pair.as_mut_ptr()) } as isize).unwrap();
    pair
}

fn raw(name: Name) -> (libc::sockaddr_un, u32) {
    // SAFETY: zeroes are a value of this type.
    let mut raw: libc::sockaddr_un = unsafe { mem::zeroed() };
    raw.sun_family = libc::AF_UNIX as libc::sa_family_t;
    raw.sun_path.iter_mut().zip(name).for_each(|(to, byte)| *to = *byte as libc::c_char);
    (raw, (PATH + name.len()) as u32)
}

fn parsed(storage: &libc::sockaddr_storage, length: usize) -> Vec<u8> {
    assert!(length == 0 || i32::from(storage.ss_family) == libc::AF_UNIX);
    // SAFETY: the kernel has written so many bytes of an address, which has no padding.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *storage).cast::<u8>(), size_of_val(storage)) };
    bytes[PATH.min(length)..length].to_vec()
}

pub(crate) fn bind(fd: RawFd, name: Name) -> Answer<isize> {
    let (raw, length) = raw(name);
    // SAFETY: the pointer is valid for the length.
    answer(unsafe { libc::bind(fd, (&raw const raw).cast(), length) } as isize)
}

pub(crate) fn connect(fd: RawFd, name: Name) -> Answer<isize> {
    let (raw, length) = raw(name);
    // SAFETY: as above.
    answer(unsafe { libc::connect(fd, (&raw const raw).cast(), length) } as isize)
}

pub(crate) fn send_to(fd: RawFd, bytes: &[u8], name: Name) -> Answer<isize> {
    let (raw, length) = raw(name);
    // SAFETY: the pointers are valid for the lengths.
    answer(unsafe { libc::sendto(fd, bytes.as_ptr().cast(), bytes.len(), 0, (&raw const raw).cast(), length) })
}

/// The length of the datagram, its first bytes, and its sender's name.
pub(crate) fn receive_from(fd: RawFd, most: usize) -> Answer<(usize, Vec<u8>, Vec<u8>)> {
    let mut bytes = vec![0; most];
    let (count, storage, length) = with_name(|name, length| {
        // SAFETY: the pointers are valid for the lengths.
        unsafe { libc::recvfrom(fd, bytes.as_mut_ptr().cast(), most, libc::MSG_TRUNC, name, length) as i32 }
    })?;
    bytes.truncate(count as usize);
    Ok((count as usize, bytes, parsed(&storage, length)))
}

pub(crate) fn accept(fd: RawFd) -> Answer<(RawFd, Vec<u8>)> {
    let (new, storage, length) = with_name(|name, length| {
        // SAFETY: the pointers are valid.
        unsafe { libc::accept4(fd, name, length, FLAGS) }
    })?;
    Ok((new, parsed(&storage, length)))
}

pub(crate) fn local_name(fd: RawFd) -> Answer<Vec<u8>> {
    // SAFETY: the pointers are valid.
    let (_, storage, length) = with_name(|name, length| unsafe { libc::getsockname(fd, name, length) })?;
    Ok(parsed(&storage, length))
}

pub(crate) fn peer_name(fd: RawFd) -> Answer<Vec<u8>> {
    // SAFETY: the pointers are valid.
    let (_, storage, length) = with_name(|name, length| unsafe { libc::getpeername(fd, name, length) })?;
    Ok(parsed(&storage, length))
}

/// Sends a byte with that descriptor.
pub(crate) fn pass(fd: RawFd, passed: RawFd) -> Answer<isize> {
    send_control(fd, b"p", (libc::SOL_SOCKET, libc::SCM_RIGHTS, passed.to_ne_bytes().to_vec()))
}

/// What comes with bytes.
#[derive(Debug)]
pub(crate) enum Beside {
    Descriptor(RawFd),
    Credentials(libc::ucred),
}

/// At most so many bytes, the flags, and what comes with the bytes.
pub(crate) fn receive_beside(fd: RawFd, most: usize) -> Answer<(Vec<u8>, i32, Vec<Beside>)> {
    let (bytes, flags, found) = receive_message(fd, most, 64)?;
    let beside = found.into_iter().map(|(level, kind, data)| match (level, kind) {
        (libc::SOL_SOCKET, libc::SCM_RIGHTS) => Beside::Descriptor(RawFd::from_ne_bytes(data.try_into().unwrap())),
        (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) => {
            assert_eq!(data.len(), size_of::<libc::ucred>());
            // SAFETY: the kernel has written credentials, which may be unaligned here.
            Beside::Credentials(unsafe { data.as_ptr().cast::<libc::ucred>().read_unaligned() })
        }
        other => panic!("{other:?}"),
    });
    Ok((bytes, flags, beside.collect()))
}

/// Of the peer.
pub(crate) fn credentials(fd: RawFd) -> Answer<libc::ucred> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as u32;
    let to = (&raw mut credentials).cast();
    // SAFETY: the pointers are valid.
    let got = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, to, &raw mut length) };
    answer(got as isize).map(|_| credentials)
}

pub(crate) fn is_stream(fd: RawFd) -> bool {
    option(fd, libc::SO_TYPE) == Ok(libc::SOCK_STREAM)
}
