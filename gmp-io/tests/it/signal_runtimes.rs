//! Signals in several runtimes: each receives them, whatever happens to the others.

use std::sync::mpsc;
use std::thread;

use gmp_exec::runtime::{Handle, Runtime};
use gmp_io::net::TcpListener;
use gmp_io::process::Command;
use gmp_io::signal::unix::{Signal, SignalKind, signal};
use signal_hook::low_level::raise;

use crate::signal::listen_to;
use crate::support::{DEADLINE, current_thread, multi_thread, within_deadline};

const BOTH: i32 = 50;
const BUSY: i32 = 51;
const GONE: i32 = 52;
const ASLEEP: i32 = 53;
const FOREIGN: i32 = 54;
const MANY: i32 = 55;
const MISSED: i32 = 56;

fn made_in(runtime: &Runtime, number: i32) -> Signal {
    let _guard = runtime.enter();
    listen_to(number)
}

fn receive(runtime: &Runtime, signal: &mut Signal) {
    runtime.block_on(within_deadline(async { signal.recv().await.expect("a signal") }));
}

#[test]
fn all_runtimes_see_the_same_signal() {
    let (ready, both_ready) = mpsc::channel();
    let threads: Vec<_> = [multi_thread(), current_thread()]
        .map(|runtime| {
            let ready = ready.clone();
            thread::spawn(move || {
                let mut signal = made_in(&runtime, BOTH);
                ready.send(()).expect("the test is there");
                receive(&runtime, &mut signal);
            })
        })
        .into();
    (0..2).for_each(|_| both_ready.recv_timeout(DEADLINE).expect("both listen"));
    raise(BOTH).expect("raised");
    threads.into_iter().for_each(|thread| thread.join().expect("received"));
}

#[test]
fn a_busy_runtime_does_not_delay_other_listeners() {
    let (busy, heard) = (current_thread(), mpsc::channel::<()>());
    let (inside, is_inside) = mpsc::channel();
    let blocked = thread::spawn(move || {
        let _signal = made_in(&busy, BUSY);
        busy.block_on(async {
            inside.send(()).expect("the test is there");
            // Blocking, which async code should not do.
            heard.1.recv().expect("the other listener has received it");
        });
    });
    is_inside.recv_timeout(DEADLINE).expect("it is busy");
    for runtime in [multi_thread(), current_thread()] {
        let mut signal = made_in(&runtime, BUSY);
        raise(BUSY).expect("raised");
        receive(&runtime, &mut signal);
    }
    heard.0.send(()).expect("it is still busy");
    blocked.join().expect("done");
}

#[test]
fn a_signal_outlives_its_runtime() {
    for (home, other) in [(multi_thread(), current_thread()), (current_thread(), multi_thread())] {
        let mut signal = made_in(&home, GONE);
        drop(home);
        let mut later = {
            let runtime = multi_thread();
            made_in(&runtime, MISSED)
        };
        // No reactor watches the pipe now, unless another test's does.
        raise(MISSED).expect("raised");
        receive(&other, &mut later);
        thread::scope(|scope| {
            scope.spawn(|| receive(&other, &mut signal));
            raise(GONE).expect("raised");
        });
    }
}

#[test]
fn a_runtime_that_is_not_running_is_not_relied_on() {
    let (asleep, other) = (current_thread(), current_thread());
    let mut signal = made_in(&asleep, ASLEEP);
    raise(ASLEEP).expect("raised");
    receive(&other, &mut signal);
    drop(asleep);
}

#[test]
fn a_foreign_executor_may_wait() {
    let runtime = multi_thread();
    let mut signal = made_in(&runtime, FOREIGN);
    let waiting = thread::spawn(move || futures::executor::block_on(signal.recv()));
    while !waiting.is_finished() {
        raise(FOREIGN).expect("raised");
        thread::yield_now();
    }
    assert_eq!(waiting.join().expect("no panic"), Some(()));
}

#[test]
fn runtimes_come_and_go() {
    let mut kept = {
        let runtime = multi_thread();
        made_in(&runtime, MANY)
    };
    for round in 0..20 {
        let runtime = if round % 2 == 0 { multi_thread() } else { current_thread() };
        let mut own = made_in(&runtime, MANY);
        raise(MANY).expect("raised");
        receive(&runtime, &mut own);
        receive(&runtime, &mut kept);
    }
}

#[test]
fn a_runtime_that_was_shut_down_takes_no_listeners() {
    for (runtime, with_reactor) in
        [multi_thread(), current_thread(), multi_thread(), current_thread()].into_iter().zip([true, true, false, false])
    {
        let handle: Handle = runtime.handle().clone();
        if with_reactor {
            runtime.block_on(async { drop(TcpListener::bind("127.0.0.1:0").await.expect("a reactor")) });
        }
        drop(runtime);
        let _guard = handle.enter();
        let error = signal(SignalKind::from_raw(GONE)).expect_err("no reactor");
        assert_eq!(error.to_string(), "signal driver gone");
        // And no children.
        let error = Command::new("true").spawn().expect_err("no reactor");
        assert_eq!(error.to_string(), "signal driver gone");
    }
}
