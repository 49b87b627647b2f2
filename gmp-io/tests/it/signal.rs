//! Signals apply to the whole process: each test that raises one has a number of its own.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use gmp_exec::bridge;
use gmp_exec::runtime::Builder;
use gmp_exec::time::timeout;
use gmp_io::signal::ctrl_c;
use gmp_io::signal::unix::{Signal, SignalKind, signal};
use rustix::process::{getpid, kill_process};
use signal_hook::low_level::raise;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::support::{current_thread, in_child, message_of, multi_thread, on_both, pair, within_deadline};

/// Real-time signals, which no other test of this binary uses.
const COALESCED: i32 = 40;
const EARLY: i32 = 41;
const DROPPED: i32 = 42;
const MANY: i32 = 43;
const STORM: i32 = 44;
const CANCELLED: i32 = 45;
const BUDGET: i32 = 46;
const UNTOLD: i32 = 47;
const DROPPED_TOO: i32 = 48;

pub(crate) fn listen_to(number: i32) -> Signal {
    signal(SignalKind::from_raw(number)).expect("a signal that can be caught")
}

/// Raises a signal and waits until it has been delivered to all listeners.
async fn raise_and_deliver(number: i32) {
    let mut witness = listen_to(number);
    raise(number).expect("raised");
    witness.recv().await;
}

#[test]
fn a_signal_is_received_again_and_again() {
    on_both(|| async {
        let mut signal = signal(SignalKind::user_defined1()).expect("listening");
        for _ in 0..3 {
            kill_process(getpid(), rustix::process::Signal::USR1).expect("sent");
            assert_eq!(signal.recv().await, Some(()));
        }
    });
}

#[test]
fn signals_between_two_calls_are_one() {
    on_both(|| async {
        let mut signal = listen_to(COALESCED);
        for _ in 0..3 {
            raise_and_deliver(COALESCED).await;
        }
        signal.recv().await;
        assert!(signal.recv().now_or_never().is_none(), "one, not three");
    });
}

#[test]
fn what_came_before_is_not_seen() {
    on_both(|| async {
        raise_and_deliver(EARLY).await;
        let mut late = listen_to(EARLY);
        assert!(late.recv().now_or_never().is_none());
        raise_and_deliver(EARLY).await;
        late.recv().await;
    });
}

#[test]
fn a_signal_not_delivered_yet_is_seen() {
    // In a child process with one thread: no other thread reads the pipe meanwhile.
    in_child("signal::a_signal_not_delivered_yet_is_seen", || {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            drop(listen_to(UNTOLD));
            raise(UNTOLD).expect("raised");
            within_deadline(listen_to(UNTOLD).recv()).await;
        });
    });
}

#[test]
fn dropping_one_leaves_the_others_and_the_handler() {
    // A number for each flavour: a signal raised at the end may be delivered when the next test
    // already listens.
    for (runtime, number) in [(multi_thread(), DROPPED), (current_thread(), DROPPED_TOO)] {
        runtime.block_on(within_deadline(async {
            let (first, mut second) = (listen_to(number), listen_to(number));
            assert!({ first }.recv().now_or_never().is_none());
            raise(number).expect("raised");
            second.recv().await;
            drop(second);
            // Without a handler this would end the process.
            raise(number).expect("raised");
        }));
    }
}

#[test]
fn every_listener_sees_a_signal() {
    on_both(|| async {
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                let mut signal = listen_to(MANY);
                gmp_exec::spawn(async move { signal.recv().await })
            })
            .collect();
        raise(MANY).expect("raised");
        assert!(join_all(tasks).await.into_iter().all(|heard| heard.expect("no panic").is_some()));
    });
}

#[test]
fn a_storm_neither_blocks_the_handler_nor_keeps_the_tasks_from_running() {
    on_both(|| async {
        let mut signal = listen_to(STORM);
        let over = std::sync::Arc::new(AtomicBool::new(false));
        let storm = {
            let over = over.clone();
            thread::spawn(move || {
                let mut raised = 0;
                // Far more than the pipe holds.
                while raised < 20_000 || !over.load(SeqCst) {
                    raise(STORM).expect("raised");
                    raised += 1;
                }
            })
        };
        let (mut ping, mut pong) = pair().await;
        for _ in 0..100 {
            ping.write_u8(1).await.expect("written");
            assert_eq!(pong.read_u8().await.expect("read"), 1);
            signal.recv().await;
        }
        over.store(true, SeqCst);
        gmp_exec::task::spawn_blocking(|| storm.join()).await.expect("joined").expect("no panic");
        // And the next signal after it is received.
        while signal.recv().now_or_never().is_some() {}
        raise(STORM).expect("raised");
        signal.recv().await;
    });
}

#[test]
fn a_cancelled_wait_can_be_repeated() {
    on_both(|| async {
        let mut signal = listen_to(CANCELLED);
        timeout(Duration::from_millis(1), signal.recv()).await.expect_err("nothing has come");
        raise(CANCELLED).expect("raised");
        signal.recv().await;
    });
}

#[test]
fn receiving_consumes_budget() {
    on_both(|| async {
        let mut signal = listen_to(BUDGET);
        raise_and_deliver(BUDGET).await;
        let before = bridge::budget().expect("inside of a poll");
        assert_eq!(signal.recv().now_or_never(), Some(Some(())));
        assert_eq!(bridge::budget(), Some(before - 1));
        assert!(signal.recv().now_or_never().is_none());
        assert_eq!(bridge::budget(), Some(before - 1), "waiting costs nothing");
        raise_and_deliver(BUDGET).await;
        bridge::set_budget(Some(0));
        assert!(signal.recv().now_or_never().is_none());
    });
}

#[test]
fn listening_spawns_no_task() {
    let runtime = multi_thread();
    let _guard = runtime.enter();
    let _signal = listen_to(UNTOLD);
    assert_eq!(runtime.metrics().num_alive_tasks(), 0);
}

#[test]
fn what_cannot_be_caught_is_refused() {
    let runtime = multi_thread();
    let _guard = runtime.enter();
    for number in [-1, 0, 4, 8, 9, 11, 19] {
        let error = signal(SignalKind::from_raw(number)).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Other);
        assert_eq!(error.to_string(), format!("Refusing to register signal {number}"));
    }
    for number in [65, 1000, i32::MAX] {
        let error = signal(SignalKind::from_raw(number)).expect_err("there is none");
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Other, "signal too large"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_the_system_refuses_is_its_error_every_time() {
    let runtime = multi_thread();
    let _guard = runtime.enter();
    for _ in 0..2 {
        // The C library reserves this one.
        let error = signal(SignalKind::from_raw(32)).expect_err("refused");
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::INVAL.raw_os_error()));
    }
}

#[test]
fn listening_without_a_runtime_panics_with_tokios_message() {
    let message = message_of(|| drop(signal(SignalKind::hangup())));
    assert!(message.starts_with("there is no reactor running, must be called from the context of a Tokio 1.x runtime"));
    let message = message_of(|| drop(pin!(ctrl_c()).poll(&mut Context::from_waker(Waker::noop()))));
    assert!(message.starts_with("there is no reactor running"));
}

#[test]
fn listening_without_io_panics_with_tokios_message() {
    let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
    let _guard = runtime.enter();
    let message = message_of(|| drop(signal(SignalKind::hangup())));
    assert!(message.starts_with("A Tokio 1.x context was found, but IO is disabled."), "{message}");
}

#[test]
fn ctrl_c_is_received() {
    in_child("signal::ctrl_c_is_received", || {
        on_both(|| async {
            let mut wait = pin!(ctrl_c());
            assert!(futures::poll!(wait.as_mut()).is_pending());
            kill_process(getpid(), rustix::process::Signal::INT).expect("sent");
            wait.await.expect("received");
        });
        // The handler stays.
        raise(SignalKind::interrupt().as_raw_value()).expect("raised");
    });
}

#[test]
fn kinds_are_their_numbers() {
    use rustix::process::Signal as Raw;
    let kinds = [
        (SignalKind::alarm(), Raw::ALARM),
        (SignalKind::child(), Raw::CHILD),
        (SignalKind::hangup(), Raw::HUP),
        (SignalKind::interrupt(), Raw::INT),
        (SignalKind::io(), Raw::IO),
        (SignalKind::pipe(), Raw::PIPE),
        (SignalKind::quit(), Raw::QUIT),
        (SignalKind::terminate(), Raw::TERM),
        (SignalKind::user_defined1(), Raw::USR1),
        (SignalKind::user_defined2(), Raw::USR2),
        (SignalKind::window_change(), Raw::WINCH),
    ];
    for (kind, raw) in kinds {
        assert_eq!(kind.as_raw_value(), raw.as_raw());
        assert_eq!(SignalKind::from(raw.as_raw()), kind);
        assert_eq!(i32::from(kind), raw.as_raw());
        assert_eq!(format!("{kind:?}"), format!("SignalKind({})", raw.as_raw()));
    }
    let different: HashSet<_> = kinds.iter().map(|(kind, _)| kind).collect();
    assert_eq!(different.len(), kinds.len());
}

#[test]
fn waiting_in_a_select_leaves_the_signal_usable() {
    let runtime = multi_thread();
    runtime.block_on(within_deadline(async {
        let mut hangup = signal(SignalKind::hangup()).expect("listening");
        for _ in 0..10 {
            tokio::select! {
                biased;
                _ = hangup.recv() => panic!("it was not sent"),
                () = gmp_exec::task::yield_now() => {}
            }
        }
        kill_process(getpid(), rustix::process::Signal::HUP).expect("sent");
        hangup.recv().await;
    }));
}
