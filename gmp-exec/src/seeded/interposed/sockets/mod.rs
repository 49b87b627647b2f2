//! Sockets: the simulated ones are answered by [`network`](crate::seeded::network), all others by the
//! kernel.

mod connect;
mod control;
mod descriptors;
mod messages;
mod options;
mod transfer;
mod unix;

pub(super) use connect::leaves_to;
pub(super) use messages::{receive_from, receive_message, send_message, send_to};
pub(super) use transfer::{part, receive, room, send, slices};
pub(super) use unix::receive_some;

use std::ffi::c_int;

use super::set_errno;
use crate::seeded::descriptors::deadline;
use crate::seeded::network::{Answer, Kernel};
use crate::seeded::state::with;
use crate::seeded::threads::Wait;
use crate::seeded::{real, turn};

pub(super) fn is_simulated(fd: c_int) -> bool {
    with(|state| state.network.is_simulated(fd))
}

fn in_kernel<R>(call: impl FnOnce(&mut Kernel<'_>) -> R) -> R {
    with(|state| call(&mut state.kernel()))
}

/// Tries until the call need not wait any more.
fn in_turn<T>(fd: c_int, events: i16, may_wait: bool, mut call: impl FnMut(&mut Kernel<'_>) -> Answer<T>) -> Answer<T> {
    let mut answer = in_kernel(&mut call);
    if !may_wait || !is_waiting(&answer) || !real::is_blocking(fd) {
        return answer;
    }
    let deadline = deadline(fd, events);
    while is_waiting(&answer) {
        let fds = vec![libc::pollfd { fd, events, revents: 0 }];
        if turn::wait(Wait::Descriptors { fds, deadline }) {
            return answer;
        }
        answer = in_kernel(&mut call);
    }
    answer
}

fn is_waiting<T>(answer: &Answer<T>) -> bool {
    matches!(answer, Err(libc::EAGAIN | libc::EINPROGRESS | libc::EALREADY))
}

/// As the C library returns it.
fn status(answer: Answer<()>) -> c_int {
    number(answer.map(|()| 0)) as c_int
}

fn number(answer: Answer<usize>) -> isize {
    answer.map_or_else(
        |error| {
            set_errno(error);
            -1
        },
        |number| number as isize,
    )
}
