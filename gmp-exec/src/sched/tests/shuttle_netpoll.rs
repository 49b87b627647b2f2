//! A netpoll: neither the sleeper nor the machines that look in passing miss an event.

use std::future::poll_fn;
use std::io;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::netpoll::Netpoll;
use crate::runtime::Runtime;
use crate::sched::tests::crowd::{Monitor, explore, runtime, shut_down};
use crate::sched::tests::gate::Gate;
use crate::sync::{Arc, Condvar, Mutex};
use crate::task::yield_now;

/// A reactor that waits on a condition variable. It has no clock: without an event it waits for
/// `wake`.
#[derive(Default)]
struct Reactor {
    state: Mutex<State>,
    event: Condvar,
}

#[derive(Default)]
struct State {
    called: bool,
    ready: Vec<Waker>,
    polling: bool,
}

impl Netpoll for Reactor {
    fn poll(&self, timeout: Option<Duration>) -> io::Result<()> {
        let mut state = self.state.lock();
        assert!(!std::mem::replace(&mut state.polling, true), "two threads poll");
        while timeout.is_none_or(|timeout| !timeout.is_zero()) && !state.called && state.ready.is_empty() {
            state = self.event.wait(state);
        }
        // As an eventfd that a look does not read.
        state.called &= timeout.is_some_and(|timeout| timeout.is_zero());
        let ready = std::mem::take(&mut state.ready);
        state.polling = false;
        drop(state);
        ready.into_iter().for_each(Waker::wake);
        Ok(())
    }

    fn wake(&self) {
        self.state.lock().called = true;
        self.event.notify_all();
    }
}

/// A descriptor that becomes ready once.
#[derive(Clone, Default)]
struct Source(Arc<Mutex<SourceState>>);

#[derive(Default)]
struct SourceState {
    is_ready: bool,
    waiter: Option<Waker>,
}

impl Source {
    async fn ready(self) {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            if state.is_ready {
                return Poll::Ready(());
            }
            let before = state.waiter.replace(cx.waker().clone());
            drop(state);
            drop(before);
            Poll::Pending
        })
        .await;
    }

    /// The event happens.
    fn fire(&self, reactor: &Reactor) {
        let mut state = self.0.lock();
        state.is_ready = true;
        let waiter = state.waiter.take();
        drop(state);
        if let Some(waiter) = waiter {
            reactor.state.lock().ready.push(waiter);
            reactor.event.notify_all();
        }
    }
}

/// Fires all sources, in the background.
fn fire(runtime: &Runtime, sources: &[Source]) -> shuttle::thread::JoinHandle<()> {
    let reactor = runtime.handle().netpoll(|| Ok(Reactor::default())).unwrap();
    let sources = sources.to_vec();
    shuttle::thread::spawn(move || sources.iter().for_each(|source| source.fire(&reactor)))
}

/// Tasks wait for events while another task keeps a processor busy.
#[test]
fn shuttle_netpoll_no_event_is_missed() {
    explore(|| {
        let runtime = runtime(2);
        let sources = [Source::default(), Source::default(), Source::default()];
        let tasks = sources.clone().map(|source| runtime.spawn(source.ready()));
        let busy = runtime.spawn(async {
            for _ in 0..3 {
                yield_now().await;
            }
        });
        let outside = fire(&runtime, &sources);
        for task in tasks.into_iter().chain([busy]) {
            runtime.block_on(task).unwrap();
        }
        outside.join().unwrap();
        shut_down(runtime);
    });
}

/// Two tasks wait for an event each. The first one then blocks its thread until the second one has
/// run.
fn block_until_another_event(runtime: &Runtime) {
    let sources = [Source::default(), Source::default()];
    let gate = Gate::default();
    let [first, second] = sources.clone();
    let blocked = runtime.spawn({
        let gate = gate.clone();
        async move {
            first.ready().await;
            gate.wait();
        }
    });
    let opener = runtime.spawn(async move {
        second.ready().await;
        gate.open();
    });
    let outside = fire(runtime, &sources);
    for task in [blocked, opener] {
        runtime.block_on(task).unwrap();
    }
    outside.join().unwrap();
}

/// There is no sysmon: only a successor can notice the second event.
#[test]
fn shuttle_netpoll_has_a_successor_where_polls_are_long() {
    explore(|| {
        let runtime = runtime(2);
        runtime.handle().scheduler().sysmon.expect(crate::sched::state::sysmon::Level::LongPolls);
        block_until_another_event(&runtime);
        shut_down(runtime);
    });
}

/// The machine that was the sleeper runs a task that blocks until another event has been noticed.
#[test]
fn shuttle_netpoll_goes_on_while_a_poll_blocks() {
    explore(|| {
        let runtime = runtime(1);
        let monitor = Monitor::of(&runtime);
        block_until_another_event(&runtime);
        drop(monitor);
        shut_down(runtime);
    });
}

/// The sleeper is parked, because no netpoll is installed yet, and is woken while one is installed:
/// the waker may believe that it sleeps in the netpoll.
#[test]
fn shuttle_netpoll_installed_while_a_machine_is_woken() {
    explore(|| {
        let runtime = runtime(1);
        let handle = runtime.handle().clone();
        let outside = shuttle::thread::spawn(move || handle.spawn(async {}));
        runtime.handle().netpoll(|| Ok(Reactor::default())).unwrap();
        runtime.block_on(outside.join().unwrap()).unwrap();
        shut_down(runtime);
    });
}
