//! The system call by which the crate gmp-sim asks for hosts (network/README.md, "Hosts"). No kernel has
//! this call, so without a seed the answer is ENOSYS. gmp-sim/src/engine.rs has the same numbers: neither
//! crate depends on the other.

use std::ffi::c_long;

use crate::seeded::decisions::Kind;
use crate::seeded::network::{Answer, Way};
use crate::seeded::state::{State, own, with};

/// "gmp". Also in gmp-sim.
pub(super) const NUMBER: c_long = 0x67_6d70;

/// # Safety
///
/// With [`OPEN`], the second word points to as many bytes as the third one says.
pub(super) unsafe fn call(what: usize, a: usize, b: usize, c: usize) -> i64 {
    // SAFETY: the caller vouches for the pointer.
    let name = || unsafe { std::slice::from_raw_parts(a as *const u8, b) };
    let answer = with(|state| match what {
        _ if !state.network.wish.is_simulated => Err(libc::ENOSYS),
        OPEN => Ok(state.network.open_host(String::from_utf8_lossy(name()).into_owned())),
        ENTER => enter(state, a),
        ADDRESS => state.network.address_of(a).map(|ip| u32::from(ip) as usize),
        WAY => way(c).and_then(|way| state.kernel().set_way(a, b, way)).map(|()| 0),
        POWER => state.kernel().set_power(a, b != 0).map(|()| 0),
        CLOCK => state.network.set_clock(a, b as i64).map(|()| 0),
        CHOOSE => Ok(state.decisions.decide(Kind::Program, a)),
        _ => Err(libc::EINVAL),
    });
    answer.map_or_else(|error| -i64::from(error), |value| value as i64)
}

/// A host with the name at `a`, of `b` bytes: its number.
const OPEN: usize = 0;
/// This thread, and those that it starts, belong to the host `a`.
const ENTER: usize = 1;
/// The address of the host `a`, of IPv4.
const ADDRESS: usize = 2;
/// From the host `a` to the host `b`: 0 is open, 1 cut, 2 held.
const WAY: usize = 3;
/// The host `a` crashes, or starts again.
const POWER: usize = 4;
/// The clock of the host `a` is ahead by `b` nanoseconds, with a sign.
const CLOCK: usize = 5;
/// One of `0..a`.
const CHOOSE: usize = 6;

fn enter(state: &mut State, host: usize) -> Answer<usize> {
    state.network.address_of(host)?;
    state.threads[own()].host = host;
    Ok(0)
}

fn way(number: usize) -> Answer<Way> {
    [Way::Open, Way::Cut, Way::Held].get(number).copied().ok_or(libc::EINVAL)
}
