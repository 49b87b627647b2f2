//! Panics have tokio's messages and the location of the mistake in the program.

use std::any::Any;
use std::cell::RefCell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use gmp_exec::runtime::Builder;
use gmp_exec::time::{
    Duration, Instant, advance, interval, interval_at, pause, resume, sleep, sleep_until, timeout, timeout_at,
};

use super::{A_MINUTE, current_thread, ms, multi_thread, paused};

const NO_RUNTIME: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime";
const NO_TIMERS: &str = "A Tokio 1.x context was found, but timers are disabled. \
                         Call `enable_time` on the runtime builder to enable timers.";
const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";
const ZERO_PERIOD: &str = "`period` must be non-zero.";
const WRONG_FLAVOR: &str = "`time::pause()` requires the `current_thread` Tokio runtime. \
                            This is the default Runtime used by `#[tokio::test].";
const OUTSIDE: &str = "time cannot be frozen from outside the Tokio runtime";

struct Panic {
    message: String,
    file: String,
}

thread_local! {
    /// `Some` while this thread runs a closure that should panic.
    static EXPECTED: RefCell<Option<Vec<Panic>>> = const { RefCell::new(None) };
}

/// Runs `body`, which must panic, and returns the message and the file of the panic.
fn panic_of(body: impl FnOnce()) -> Panic {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |info| {
            let panic = Panic {
                message: message_of(info.payload()),
                file: info.location().map(|location| location.file().to_owned()).unwrap_or_default(),
            };
            match EXPECTED.take() {
                Some(mut panics) => {
                    panics.push(panic);
                    EXPECTED.set(Some(panics));
                }
                None => report(info),
            }
        }));
    });
    EXPECTED.set(Some(Vec::new()));
    let result = catch_unwind(AssertUnwindSafe(body));
    let panics = EXPECTED.take().unwrap();
    assert!(result.is_err(), "should have panicked");
    panics.into_iter().next().unwrap()
}

fn message_of(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default().to_owned()
}

#[track_caller]
fn assert_panics_here(expected: &str, body: impl FnOnce()) {
    let panic = panic_of(body);
    assert_eq!(panic.message, expected);
    assert_eq!(panic.file, file!());
}

#[test]
fn time_needs_a_runtime() {
    let now = Instant::now();
    assert_panics_here(NO_RUNTIME, || drop(sleep(ms(1))));
    assert_panics_here(NO_RUNTIME, || drop(sleep_until(now)));
    assert_panics_here(NO_RUNTIME, || drop(timeout(ms(1), pending::<()>())));
    assert_panics_here(NO_RUNTIME, || drop(timeout_at(now, pending::<()>())));
    assert_panics_here(NO_RUNTIME, || drop(interval(ms(1))));
    assert_panics_here(NO_RUNTIME, || drop(interval_at(now, ms(1))));
}

#[test]
fn time_must_be_enabled() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    let now = Instant::now();
    assert_panics_here(NO_TIMERS, || drop(sleep(ms(1))));
    assert_panics_here(NO_TIMERS, || drop(sleep_until(now)));
    assert_panics_here(NO_TIMERS, || drop(timeout(ms(1), pending::<()>())));
    assert_panics_here(NO_TIMERS, || drop(timeout_at(now, pending::<()>())));
    assert_panics_here(NO_TIMERS, || drop(interval(ms(1))));
    assert_panics_here(NO_TIMERS, || drop(interval_at(now, ms(1))));
}

#[test]
fn an_interval_needs_a_period() {
    let now = Instant::now();
    assert_panics_here(ZERO_PERIOD, || drop(interval(Duration::ZERO)));
    assert_panics_here(ZERO_PERIOD, || drop(interval_at(now, Duration::ZERO)));
}

#[test]
fn only_a_running_clock_can_be_paused() {
    let runtime = paused();
    let _entered = runtime.enter();
    assert_panics_here("time is already frozen", pause_here);
    resume();
    pause();
    assert_panics_here("time is already frozen", pause_here);
}

// A function passed by name would have no caller in this file.
fn pause_here() {
    pause();
}

#[test]
fn only_a_paused_clock_can_be_resumed_and_advanced() {
    let runtime = current_thread();
    assert_panics_here("time is not frozen", || runtime.block_on(async { resume() }));
    let panic = panic_of(|| runtime.block_on(advance(ms(1))));
    assert_eq!(panic.message, "time is not frozen");
}

#[test]
fn only_a_current_thread_runtime_can_be_paused() {
    let runtime = multi_thread(1);
    let _entered = runtime.enter();
    assert_panics_here(WRONG_FLAVOR, pause_here);
    assert_panics_here("time is not frozen", || resume());
}

#[test]
fn there_is_no_clock_to_pause_outside_a_runtime() {
    assert_panics_here(OUTSIDE, pause_here);
    assert_panics_here(OUTSIDE, || resume());
}

#[test]
fn a_clock_can_not_be_advanced_out_of_its_range() {
    paused().block_on(advance(Duration::from_secs(1)));
    let panic = panic_of(|| paused().block_on(advance(Duration::MAX)));
    assert_eq!(panic.message, "overflow when adding duration to instant");
}

#[test]
fn a_sleep_of_a_runtime_that_is_gone_panics_when_polled() {
    for begun in [false, true] {
        let runtime = current_thread();
        let mut nap = {
            let _entered = runtime.enter();
            Box::pin(sleep(A_MINUTE))
        };
        if begun {
            assert!(runtime.block_on(async { futures::poll!(nap.as_mut()) }).is_pending());
        }
        drop(runtime);
        let elsewhere = current_thread();
        assert_eq!(panic_of(|| elsewhere.block_on(nap)).message, SHUT_DOWN);
    }
}

/// Otherwise the future would never be woken, because its runtime no longer looks at its timers.
#[test]
fn a_future_on_another_runtime_learns_of_the_shutdown() {
    let runtime = multi_thread(1);
    let nap = {
        let _entered = runtime.enter();
        sleep(Duration::from_secs(3_600))
    };
    let (say, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let panic = panic_of(|| {
            current_thread().block_on(async {
                let mut nap = std::pin::pin!(nap);
                assert!(futures::poll!(nap.as_mut()).is_pending());
                say.send(String::new()).unwrap();
                nap.await;
            });
        });
        say.send(panic.message).unwrap();
    });
    assert_eq!(heard.recv_timeout(A_MINUTE).unwrap(), "");
    drop(runtime);
    assert_eq!(heard.recv_timeout(A_MINUTE).expect("the future was not woken"), SHUT_DOWN);
}
