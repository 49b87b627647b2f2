//! The calls that the engine of seeded runs answers (gmp-exec/src/seeded/interposed/simulation.rs).
#![allow(unsafe_code, reason = "makes a system call")]

use std::ffi::c_long;
use std::net::Ipv4Addr;

/// No kernel has this system call, so without a seed it fails with ENOSYS, and nothing happens.
const NUMBER: c_long = 0x67_6d70;

const OPEN: usize = 0;
const ENTER: usize = 1;
const ADDRESS: usize = 2;
const WAY: usize = 3;
const POWER: usize = 4;
const CLOCK: usize = 5;
const CHOOSE: usize = 6;

/// Of a host, in the engine.
pub(crate) type Number = usize;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    Open,
    Cut,
    Held,
}

pub(crate) fn is_on() -> bool {
    // The program itself is host 0.
    call(ADDRESS, 0, 0, 0).is_some()
}

pub(crate) fn open(name: &str) -> Option<Number> {
    call(OPEN, name.as_ptr() as usize, name.len(), 0)
}

pub(crate) fn enter(host: Option<Number>) {
    host.and_then(|host| call(ENTER, host, 0, 0));
}

pub(crate) fn address(host: Number) -> Option<Ipv4Addr> {
    call(ADDRESS, host, 0, 0).map(|address| Ipv4Addr::from(address as u32))
}

pub(crate) fn set_way(from: Option<Number>, to: Option<Number>, way: Way) {
    from.zip(to).and_then(|(from, to)| call(WAY, from, to, way as usize));
}

pub(crate) fn set_power(host: Option<Number>, is_on: bool) {
    host.and_then(|host| call(POWER, host, is_on.into(), 0));
}

pub(crate) fn set_clock(host: Option<Number>, ahead: i64) {
    host.and_then(|host| call(CLOCK, host, ahead as usize, 0));
}

pub(crate) fn choose(count: usize) -> usize {
    call(CHOOSE, count, 0, 0).unwrap_or(0)
}

fn call(what: usize, a: usize, b: usize, c: usize) -> Option<usize> {
    // SAFETY: only the engine has this call, and it reads no memory but the name that `open` passes, which
    // is valid during the call.
    let answer = unsafe { libc::syscall(NUMBER, what, a, b, c) };
    usize::try_from(answer).ok()
}
