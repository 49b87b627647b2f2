//! Reading into uninitialised memory.
//!
//! tokio's `ReadBuf` and bytes' `BufMut` keep their spare room uninitialised, so that it need not
//! be zeroed before the system overwrites it. The methods for that are `unsafe`. Of the code that
//! reads from descriptors, only this file calls them.
//!
//! `fill` and `fill_chunk` lend the spare room to one of the functions at the end of the file. That
//! function makes the system call, which copies the bytes into the room, and returns [`Received`]:
//! how many bytes the system has written. `fill` and `fill_chunk` rely on that number.
#![allow(unsafe_code, reason = "ReadBuf and BufMut hand out uninitialised memory through unsafe functions only")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use bytes::BufMut;
use rustix::net::{RecvFlags, SocketAddrAny};
use socket2::{MaybeUninitSlice, MsgHdrMut, SockAddr, SockRef};
use tokio::io::ReadBuf;

/// Receives into the unfilled part of `buf` and returns how many bytes were added.
pub(crate) fn recv(socket: impl AsFd, buf: &mut ReadBuf<'_>, flags: RecvFlags) -> io::Result<usize> {
    fill(buf, |room| receive(socket, room, flags)).map(|received| received.len)
}

/// As [`recv`], and returns the sender too, if the system tells.
pub(crate) fn recv_from(
    socket: impl AsFd,
    buf: &mut ReadBuf<'_>,
    flags: RecvFlags,
) -> io::Result<(usize, Option<SocketAddrAny>)> {
    fill(buf, |room| receive_from(socket, room, flags)).map(|received| (received.len, received.extra))
}

/// As [`recv`], and returns the sender too. For Unix sockets: rustix treats every address that is
/// not a path as an abstract name, and panics at a path that fills all of its room.
pub(crate) fn recv_from_unix(socket: impl AsFd, buf: &mut ReadBuf<'_>) -> io::Result<(usize, SockAddr)> {
    fill(buf, |room| receive_from_unix(socket, room)).map(|received| (received.len, received.extra))
}

/// As [`recv`], and returns whether the system marked the message: it kept back descriptors or
/// credentials, because there was no room for them.
pub(crate) fn recv_marked(socket: impl AsFd, buf: &mut ReadBuf<'_>) -> io::Result<(usize, bool)> {
    fill(buf, |room| receive_message(socket, room)).map(|received| (received.len, received.extra))
}

/// Reads into the unfilled part of `buf` and returns how many bytes were added.
pub(crate) fn read(file: impl AsFd, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    fill(buf, |room| read_file(file, room)).map(|received| received.len)
}

/// Reads into the next chunk of `buf` and returns how many bytes were added.
pub(crate) fn read_buf(file: impl AsFd, buf: &mut impl BufMut) -> io::Result<usize> {
    fill_chunk(buf, |room| read_file(file, room)).map(|received| received.len)
}

/// Receives into the next chunk of `buf` and returns how many bytes were added.
pub(crate) fn recv_buf(socket: impl AsFd, buf: &mut impl BufMut) -> io::Result<usize> {
    fill_chunk(buf, |room| receive(socket, room, RecvFlags::empty())).map(|received| received.len)
}

/// As [`recv_buf`], and returns the sender too, if the system tells.
pub(crate) fn recv_buf_from(socket: impl AsFd, buf: &mut impl BufMut) -> io::Result<(usize, Option<SocketAddrAny>)> {
    let received = fill_chunk(buf, |room| receive_from(socket, room, RecvFlags::empty()))?;
    Ok((received.len, received.extra))
}

/// As [`recv_buf`], and returns the sender too. For Unix sockets.
pub(crate) fn recv_buf_from_unix(socket: impl AsFd, buf: &mut impl BufMut) -> io::Result<(usize, SockAddr)> {
    fill_chunk(buf, |room| receive_from_unix(socket, room)).map(|received| (received.len, received.extra))
}

fn fill<E>(
    buf: &mut ReadBuf<'_>,
    receive: impl FnOnce(&mut [MaybeUninit<u8>]) -> io::Result<Received<E>>,
) -> io::Result<Received<E>> {
    // SAFETY: `receive` only writes bytes that are initialised into the slice.
    let received = receive(unsafe { buf.unfilled_mut() })?;
    // SAFETY: that many bytes at the beginning of the unfilled part are initialised.
    unsafe { buf.assume_init(received.len) };
    buf.advance(received.len);
    Ok(received)
}

fn fill_chunk<E>(
    buf: &mut impl BufMut,
    receive: impl FnOnce(&mut [MaybeUninit<u8>]) -> io::Result<Received<E>>,
) -> io::Result<Received<E>> {
    // SAFETY: `receive` only writes bytes that are initialised into the chunk.
    let received = receive(unsafe { buf.chunk_mut().as_uninit_slice_mut() })?;
    // SAFETY: that many bytes at the beginning of the chunk are initialised, and it has that many.
    unsafe { buf.advance_mut(received.len) };
    Ok(received)
}

/// Evidence that the room has at least `len` bytes and that the first `len` are initialised.
/// `extra` is further information from the system.
struct Received<E> {
    len: usize,
    extra: E,
}

fn receive(socket: impl AsFd, room: &mut [MaybeUninit<u8>], flags: RecvFlags) -> io::Result<Received<()>> {
    let ((filled, _), _) = rustix::net::recv(socket, room, flags)?;
    Ok(Received { len: filled.len(), extra: () })
}

fn receive_from(
    socket: impl AsFd,
    room: &mut [MaybeUninit<u8>],
    flags: RecvFlags,
) -> io::Result<Received<Option<SocketAddrAny>>> {
    let ((filled, _), _, sender) = rustix::net::recvfrom(socket, room, flags)?;
    Ok(Received { len: filled.len(), extra: sender })
}

fn receive_from_unix(socket: impl AsFd, room: &mut [MaybeUninit<u8>]) -> io::Result<Received<SockAddr>> {
    let (len, sender) = SockRef::from(&socket).recv_from(room)?;
    Ok(Received { len, extra: sender })
}

fn receive_message(socket: impl AsFd, room: &mut [MaybeUninit<u8>]) -> io::Result<Received<bool>> {
    let nothing = MsgHdrMut::new().flags();
    let mut room = [MaybeUninitSlice::new(room)];
    let mut message = MsgHdrMut::new().with_buffers(&mut room);
    let len = SockRef::from(&socket).recvmsg(&mut message, 0)?;
    Ok(Received { len, extra: message.flags() != nothing })
}

fn read_file(file: impl AsFd, room: &mut [MaybeUninit<u8>]) -> io::Result<Received<()>> {
    let (filled, _) = rustix::io::read(file, room)?;
    Ok(Received { len: filled.len(), extra: () })
}
