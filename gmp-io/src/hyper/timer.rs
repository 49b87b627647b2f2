//! Timers for hyper.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use gmp_exec::time;
use hyper::rt::{Sleep, Timer};
use pin_project_lite::pin_project;

/// Runs hyper's timeouts and keep-alives on gmp's timers and clock, which stands still while time
/// is paused.
///
/// # Panics
///
/// Sleeping panics if there is no current runtime, or if its timers are not enabled.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use gmp_io::hyper::GmpTimer;
/// use hyper::rt::Timer;
///
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// let timer = GmpTimer::new();
/// let start = timer.now();
/// timer.sleep(Duration::from_millis(5)).await;
/// assert!(timer.now() - start >= Duration::from_millis(5));
/// # });
/// # std::io::Result::Ok(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct GmpTimer;

impl GmpTimer {
    /// Makes a timer, which has no state.
    pub fn new() -> Self {
        GmpTimer
    }
}

impl Timer for GmpTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(GmpSleep { sleep: time::sleep(duration) })
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(GmpSleep { sleep: time::sleep_until(deadline.into()) })
    }

    fn now(&self) -> Instant {
        time::Instant::now().into_std()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, new_deadline: Instant) {
        match sleep.as_mut().downcast_mut_pin::<GmpSleep>() {
            Some(sleep) => sleep.project().sleep.reset(new_deadline.into()),
            None => *sleep = self.sleep_until(new_deadline),
        }
    }
}

pin_project! {
    struct GmpSleep {
        #[pin]
        sleep: time::Sleep,
    }
}

impl Future for GmpSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.project().sleep.poll(cx)
    }
}

impl Sleep for GmpSleep {}
