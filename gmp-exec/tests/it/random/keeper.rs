//! A foreign thread that sets cells, and keeps wakers longer than their tasks and runtimes live.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::task::Waker;
use std::thread;
use std::time::Duration;

use super::cell::Setter;
use crate::support::Random;

pub(super) type Requests = Sender<Request>;

pub(super) enum Request {
    /// Wakes and drops it some time.
    Keep(Waker),
    /// Sets it soon.
    Set(Setter),
    End,
}

pub(super) struct Keeper {
    pub(super) requests: Requests,
    thread: thread::JoinHandle<()>,
}

impl Keeper {
    pub(super) fn start(seed: u64) -> Keeper {
        let (requests, received) = mpsc::channel();
        Keeper { requests, thread: thread::spawn(move || keep(&received, Random::new(seed))) }
    }

    /// Wakes whatever is left.
    pub(super) fn end(self) {
        self.requests.send(Request::End).unwrap();
        self.thread.join().unwrap();
    }
}

fn keep(received: &Receiver<Request>, mut random: Random) {
    let mut wakers = Vec::new();
    loop {
        match received.recv_timeout(Duration::from_micros(50 + random.below(500))) {
            Ok(Request::Keep(waker)) => wakers.push(waker),
            Ok(Request::Set(setter)) => drop(setter),
            Ok(Request::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => use_one(&mut wakers, &mut random),
        }
        if wakers.len() > 100 {
            use_one(&mut wakers, &mut random);
        }
    }
    wakers.into_iter().for_each(|waker| use_waker(waker, &mut random));
}

fn use_one(wakers: &mut Vec<Waker>, random: &mut Random) {
    if !wakers.is_empty() {
        let waker = wakers.swap_remove(random.below(wakers.len() as u64) as usize);
        use_waker(waker, random);
    }
}

fn use_waker(waker: Waker, random: &mut Random) {
    match random.below(4) {
        0 => waker.wake(),
        1 => waker.wake_by_ref(),
        2 => {
            let other = waker.clone();
            drop(waker);
            other.wake();
        }
        _ => drop(waker),
    }
}
