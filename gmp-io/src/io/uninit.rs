//! Reading into memory that nobody has written to yet.
//!
//! tokio's `ReadBuf` and bytes' `BufMut` keep their spare room uninitialised so that it need not be zeroed before the system
//! overwrites it. Their interfaces for that are `unsafe`. This file is the only place that uses them; `recv`, which does the
//! reading, is a safe function that returns the part it has initialised.
#![allow(unsafe_code, reason = "ReadBuf and BufMut hand out uninitialised memory through unsafe functions only")]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

use bytes::BufMut;
use rustix::net::RecvFlags;
use tokio::io::ReadBuf;

/// Receives into the unfilled part of `buf` and returns how many bytes were added.
pub(crate) fn recv(socket: impl AsFd, buf: &mut ReadBuf<'_>, flags: RecvFlags) -> io::Result<usize> {
    // SAFETY: `recv_initialized` only writes bytes that are initialised into the slice.
    let spare = unsafe { buf.unfilled_mut() };
    let n = recv_initialized(socket, spare, flags)?;
    // SAFETY: `recv_initialized` initialised the first `n` bytes of the unfilled part.
    unsafe { buf.assume_init(n) };
    buf.advance(n);
    Ok(n)
}

/// Reads into the unfilled part of `buf` and returns how many bytes were added.
pub(crate) fn read(file: impl AsFd, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    // SAFETY: `rustix::io::read` only writes bytes that are initialised into the slice.
    let spare = unsafe { buf.unfilled_mut() };
    let n = rustix::io::read(file, spare)?.0.len();
    // SAFETY: the system has initialised the first `n` bytes of the unfilled part.
    unsafe { buf.assume_init(n) };
    buf.advance(n);
    Ok(n)
}

/// Receives into the next chunk of `buf` and returns how many bytes were added.
pub(crate) fn recv_buf(socket: impl AsFd, buf: &mut impl BufMut) -> io::Result<usize> {
    // SAFETY: `recv_initialized` only writes bytes that are initialised into the chunk.
    let chunk = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    let n = recv_initialized(socket, chunk, RecvFlags::empty())?;
    // SAFETY: `recv_initialized` initialised the first `n` bytes of the chunk, and `n` is at most its length.
    unsafe { buf.advance_mut(n) };
    Ok(n)
}

/// The length of the part of `room` that now holds received bytes.
fn recv_initialized(socket: impl AsFd, room: &mut [MaybeUninit<u8>], flags: RecvFlags) -> io::Result<usize> {
    let ((received, _), _) = rustix::net::recv(socket, room, flags)?;
    Ok(received.len())
}
