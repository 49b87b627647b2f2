//! The threads of a run: what each waits for, how one begins, and how one ends.
#![allow(unsafe_code, reason = "starts threads, and watches their ends")]

use std::ffi::c_void;
use std::sync::atomic::Ordering::*;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use super::network::Host;
use super::real;
use super::state::{become_thread, own, with};
use super::{time_up, turn};

/// 1: the thread has been given the turn. Its thread sleeps on this word.
pub(super) type Go = &'static AtomicU32;

#[derive(Debug)]
pub(super) enum Wait {
    /// For its turn alone.
    Nothing,
    /// For a wake-up at this address.
    Futex { address: usize, bits: u32, deadline: Option<u64> },
    /// For a moment.
    Sleep { deadline: u64 },
    /// Until that thread has ended.
    Join(usize),
    /// Until one of these descriptors is ready.
    Descriptors { fds: Vec<libc::pollfd>, deadline: Option<u64> },
    /// The thread has ended.
    Ended,
}

#[derive(Debug)]
pub(super) struct Thread {
    pub(super) go: Go,
    pub(super) wait: Wait,
    /// Whether the last wait ended because its time was up.
    pub(super) is_late: bool,
    /// The number of the task that the thread has polled last.
    pub(super) task: u64,
    /// Whether the thread has polled a task, or a future of `block_on`.
    pub(super) polls: bool,
    /// The host that the thread belongs to.
    pub(super) host: Host,
    pub(super) handle: libc::pthread_t,
    /// The kernel's number; 0 before the thread has begun.
    pub(super) tid: i32,
}

impl Thread {
    /// The first thread.
    pub(super) fn running() -> Thread {
        // SAFETY: the call touches no memory, and always succeeds.
        let handle = unsafe { libc::pthread_self() };
        Thread { handle, tid: std::process::id() as i32, ..Thread::new(0) }
    }

    fn new(host: Host) -> Thread {
        let go = Box::leak(Box::new(AtomicU32::new(0)));
        Thread { go, wait: Wait::Nothing, is_late: false, task: 0, polls: false, host, handle: 0, tid: 0 }
    }

    pub(super) fn begin(&mut self, wait: Wait) {
        (self.wait, self.is_late) = (wait, false);
    }

    pub(super) fn end_wait(&mut self, is_late: bool) {
        (self.wait, self.is_late) = (Wait::Nothing, is_late);
    }

    pub(super) fn is_able(&self) -> bool {
        matches!(self.wait, Wait::Nothing)
    }

    pub(super) fn deadline(&self) -> Option<u64> {
        match self.wait {
            Wait::Futex { deadline, .. } | Wait::Descriptors { deadline, .. } => deadline,
            Wait::Sleep { deadline } => Some(deadline),
            Wait::Nothing | Wait::Join(_) | Wait::Ended => None,
        }
    }
}

type Body = extern "C" fn(*mut c_void) -> *mut c_void;

struct Start {
    number: usize,
    go: Go,
    body: Body,
    argument: *mut c_void,
}

/// `pthread_create` in a run. The creator has the turn, and may pass it on at once.
///
/// # Safety
///
/// As for `pthread_create`.
pub(super) unsafe fn create(
    handle: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    body: Body,
    argument: *mut c_void,
) -> i32 {
    let (number, go) = with(|state| {
        let thread = Thread::new(state.threads[own()].host);
        let go = thread.go;
        state.threads.push(thread);
        (state.threads.len() - 1, go)
    });
    let start = Box::into_raw(Box::new(Start { number, go, body, argument }));
    // Inside `with`, because the C library asks for memory while it holds locks.
    // SAFETY: the caller vouches for all but the start, which the new thread frees.
    let result = with(|_| unsafe { real::pthread_create(handle, attributes, thread_main, start.cast()) });
    if result != 0 {
        // SAFETY: no thread has begun that would free it.
        drop(unsafe { Box::from_raw(start) });
        return result;
    }
    with(|state| {
        // SAFETY: the call has written the handle.
        state.threads[number].handle = unsafe { *handle };
        // Before the creator, which has the turn.
        state.live.insert(state.live.len() - 1, number);
        state.decisions.event("start", number as u64);
    });
    turn::pause();
    0
}

extern "C" fn thread_main(start: *mut c_void) -> *mut c_void {
    // SAFETY: `create` has made it for this thread.
    let start = unsafe { Box::from_raw(start.cast::<Start>()) };
    let Start { number, go, body, argument } = *start;
    turn::receive(go);
    become_thread(number);
    // SAFETY: the call touches no memory.
    let tid = unsafe { libc::gettid() };
    with(|state| state.threads[number].tid = tid);
    time_up::note_holder(tid);
    note_round(1);
    body(argument)
}

/// `pthread_join` in a run: without the turn until the thread has ended.
pub(super) fn wait_for_end(handle: libc::pthread_t) {
    // The newest, because the C library uses handles again.
    let found = with(|state| {
        let number = state.threads.iter().rposition(|thread| thread.handle == handle)?;
        (!matches!(state.threads[number].wait, Wait::Ended)).then_some(number)
    });
    if let Some(number) = found {
        turn::wait(Wait::Join(number));
    }
}

/// The key whose destructor is called at the end of each thread, after those of std's and of C++'s
/// thread-locals.
static KEY: AtomicUsize = AtomicUsize::new(0);
/// The C library calls the destructors of keys in so many rounds (POSIX: at least), as long as
/// there are values. In the last one other keys' have most probably run.
const ROUNDS: usize = 4;

pub(super) fn watch_ends() {
    let mut key = 0;
    // SAFETY: the pointer is valid, and the function does not unwind.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(on_end)) } == 0 {
        KEY.store(key as usize, Relaxed);
    }
}

fn note_round(round: usize) {
    // SAFETY: the key exists. The value is a number, and never followed.
    unsafe { libc::pthread_setspecific(KEY.load(Relaxed) as libc::pthread_key_t, round as *const c_void) };
}

unsafe extern "C" fn on_end(round: *mut c_void) {
    if !super::is_on() {
        return;
    }
    let round = round as usize;
    if round < ROUNDS {
        return note_round(round + 1);
    }
    let own = own();
    with(|state| {
        let is_joiner = |wait: &Wait| matches!(wait, Wait::Join(number) if *number == own);
        state.threads.iter_mut().filter(|thread| is_joiner(&thread.wait)).for_each(|thread| thread.end_wait(false));
    });
    turn::leave();
}
