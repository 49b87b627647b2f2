//! Waits for descriptors. The kernel is asked at each choice of a thread, so that what the run has
//! written itself is seen at a decided moment.

use super::network::{Network, timeout};
use super::state::{State, is_controlled, with};
use super::threads::Wait;
use super::turn;
use super::{real, time};

/// So many milliseconds of real time pass before it is certain that nothing comes from outside.
/// Only then may a run be called a deadlock.
const PATIENCE: i32 = 50;
/// The same if the run has connected to other computers.
const PATIENCE_WITH_PEERS: i32 = 2_000;
/// And before the clock goes on to the next timer in such a run.
const BRIEFLY: i32 = 5;
/// Both while a child process runs, whose end is a wake-up.
const PATIENCE_WITH_CHILDREN: i32 = 10_000;
/// After so long a call is tried again that nothing wakes, then after twice as long, but so often at most.
const FIRST_AGAIN: u64 = 1_000_000;
const MOST_DOUBLED: u32 = 10;

/// Waits without the turn until a blocking call on `fd` would not wait. Returns false if the socket's
/// limit for such calls has passed before.
pub(super) fn wait_until_ready(fd: i32, events: i16) -> bool {
    if !is_controlled() || !real::is_blocking(fd) {
        return true;
    }
    let fds = vec![libc::pollfd { fd, events, revents: 0 }];
    let is_ready = real::poll_for(&mut fds.clone(), 0) != 0;
    is_ready || !turn::wait(Wait::Descriptors { fds, deadline: deadline(fd, events) })
}

/// Waits until a call that has found no room so often may find room, but not beyond the limit.
pub(super) fn wait_for_room(fd: i32, limit: Option<u64>, tries: u32) {
    let fds = vec![libc::pollfd { fd, events: libc::POLLOUT, revents: 0 }];
    if real::poll_for(&mut fds.clone(), 0) == 0 {
        turn::wait(Wait::Descriptors { fds, deadline: limit });
    } else {
        // The queue of another socket is full, and nothing tells when it has room.
        let next = with(|state| state.now) + (FIRST_AGAIN << tries.min(MOST_DOUBLED));
        turn::wait(Wait::Sleep { deadline: limit.map_or(next, |limit| limit.min(next)) });
    }
}

/// When a call on the socket that begins now has waited for so long as the socket's options allow.
pub(super) fn deadline(fd: i32, events: i16) -> Option<u64> {
    let name = if events == libc::POLLOUT { libc::SO_SNDTIMEO } else { libc::SO_RCVTIMEO };
    timeout(fd, name).map(|limit| time::after(&limit))
}

/// Asks the network about simulated sockets, and the kernel about the others. Returns how many are
/// ready, or less than zero.
pub(super) fn look(network: &Network, fds: &mut [libc::pollfd], milliseconds: i32) -> i32 {
    let answers: Vec<_> = fds.iter().map(|fd| network.poll(fd.fd, fd.events)).collect();
    let is_ready = answers.iter().any(|answer| answer.is_some_and(|ready| ready != 0));
    // The kernel passes over numbers below zero.
    let hide = |fds: &mut [libc::pollfd]| {
        fds.iter_mut().zip(&answers).filter(|(_, answer)| answer.is_some()).for_each(|(fd, _)| fd.fd = !fd.fd);
    };
    hide(fds);
    let count = real::poll_for(fds, if is_ready { 0 } else { milliseconds });
    hide(fds);
    for (fd, answer) in fds.iter_mut().zip(&answers) {
        fd.revents = answer.unwrap_or(fd.revents);
    }
    if count < 0 { count } else { fds.iter().filter(|fd| fd.revents != 0).count() as i32 }
}

/// Makes the threads able to go on whose descriptors are ready. Waits for that for so many
/// milliseconds. Returns whether there is one.
pub(super) fn wake_ready(state: &mut State, milliseconds: i32) -> bool {
    let (mut all, mut owners) = (Vec::new(), Vec::new());
    for &number in &state.live {
        if let Wait::Descriptors { fds, .. } = &state.threads[number].wait {
            all.extend_from_slice(fds);
            owners.extend(fds.iter().map(|_| number));
        }
    }
    if all.is_empty() || look(&state.network, &mut all, milliseconds) <= 0 {
        return false;
    }
    let mut ready: Vec<usize> = all.iter().zip(owners).filter(|(fd, _)| fd.revents != 0).map(|(_, n)| n).collect();
    ready.dedup();
    for number in ready {
        state.threads[number].end_wait(false);
        state.decisions.event("ready", number as u64);
    }
    true
}

/// Nothing can run, and no timer is set. Returns whether something has come from outside.
pub(super) fn wait_outside(state: &mut State) -> bool {
    let patience = if state.has_peers { PATIENCE_WITH_PEERS } else { PATIENCE };
    wake_ready(state, if has_children(state) { PATIENCE_WITH_CHILDREN } else { patience })
}

/// Nothing can run, and time is about to go on. An answer from outside takes real time.
pub(super) fn wait_briefly(state: &mut State) -> bool {
    let patience = if state.has_peers { BRIEFLY } else { 0 };
    wake_ready(state, if has_children(state) { PATIENCE_WITH_CHILDREN } else { patience })
}

fn has_children(state: &State) -> bool {
    state.has_had_children && real::has_children()
}
