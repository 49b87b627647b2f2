//! Pausing and moving the clock, for tests.

use std::time::Duration;

use super::clock::Clock;
use super::driver::Driver;
use crate::context;
use crate::sched::SchedulerRef;
use crate::sched::config::Flavor;
use crate::task::yield_now;

/// Stops the clock of the current runtime.
///
/// From here on [`Instant::now`](super::Instant::now) returns the same moment until [`advance`]
/// moves it or [`resume`] starts the clock again. Only a current-thread runtime can be paused.
/// [`Builder::start_paused`](crate::runtime::Builder::start_paused) makes a runtime whose clock is
/// paused from the start. The clocks of std and of other runtimes go on.
///
/// # Auto-advance
///
/// When all tasks of the paused runtime wait, and no blocking closure runs, the clock jumps to the
/// next deadline. Long sleeps therefore take no time, but still end in the right order.
///
/// # Panics
///
/// Panics if the clock is paused already, outside a runtime, and on a multi-thread runtime.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{self, Duration, Instant};
///
/// # #[gmp_exec::main(flavor = "current_thread")]
/// # async fn main() {
/// time::pause();
/// let start = Instant::now();
/// time::sleep(Duration::from_secs(60)).await;
/// assert_eq!(start.elapsed(), Duration::from_secs(60));
/// # }
/// ```
#[track_caller]
pub fn pause() {
    report(context::with_current(|scheduler| match scheduler.map(|scheduler| scheduler.config.flavor) {
        Some(Flavor::CurrentThread) => clock_of(scheduler)?.pause().map_err(|_| "time is already frozen"),
        Some(_) => Err(WRONG_FLAVOR),
        None => Err(OUTSIDE),
    }));
}

/// Starts the clock of the current runtime again, from its present reading.
///
/// # Panics
///
/// Panics if the clock is not paused, and outside a runtime.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{self, Duration, Instant};
///
/// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let start = Instant::now();
/// time::resume();
/// time::sleep(Duration::from_millis(2)).await; // this one takes its time
/// assert!(start.elapsed() >= Duration::from_millis(2));
/// # }
/// ```
#[track_caller]
pub fn resume() {
    report(context::with_current(|scheduler| clock_of(scheduler)?.resume().map_err(|_| NOT_FROZEN)));
}

/// Moves the paused clock of the current runtime forward by `duration` at once, and yields.
///
/// All timers that become due fire at the same moment. Their tasks are woken, but may not have run
/// yet when `advance` returns. To let time pass step by step, [`sleep`](super::sleep()) on the
/// paused clock instead: the clock then stops at every deadline on the way.
///
/// # Panics
///
/// Panics when polled: if the clock is not paused, if [`Instant`](super::Instant) can't represent so late
/// a moment, and outside a runtime.
///
/// # Examples
///
/// ```
/// use gmp_exec::time::{self, Duration, Instant};
///
/// # #[gmp_exec::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let start = Instant::now();
/// time::advance(Duration::from_micros(250)).await;
/// assert_eq!(start.elapsed(), Duration::from_micros(250));
/// # }
/// ```
pub async fn advance(duration: Duration) {
    if let Err(message) = context::with_current(|scheduler| jump(scheduler, duration)) {
        panic!("{message}");
    }
    // The scheduler looks at the timers before it polls a task that has yielded.
    yield_now().await;
}

/// Moves the clock.
fn jump(scheduler: Option<&SchedulerRef>, duration: Duration) -> Result<(), &'static str> {
    clock_of(scheduler)?.advance(duration).map_err(|_| NOT_FROZEN)?;
    if let Some(driver) = scheduler.and_then(|scheduler| Driver::of(scheduler)) {
        driver.announce_jump();
    }
    Ok(())
}

const NOT_FROZEN: &str = "time is not frozen";
const OUTSIDE: &str = "time cannot be frozen from outside the Tokio runtime";
const WRONG_FLAVOR: &str = "`time::pause()` requires the `current_thread` Tokio runtime. \
                            This is the default Runtime used by `#[tokio::test].";

/// Panics with the location of the caller, which the closures above could not.
#[track_caller]
fn report(result: Result<(), &'static str>) {
    if let Err(message) = result {
        panic!("{message}");
    }
}

fn clock_of(scheduler: Option<&SchedulerRef>) -> Result<&Clock, &'static str> {
    scheduler.map(|scheduler| &scheduler.clock).ok_or(OUTSIDE)
}
