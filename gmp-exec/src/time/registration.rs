//! A deadline of one runtime and, while a task waits for it, its place among a processor's timers.
//!
//! Most deadlines are never waited for: the future beside them is ready at once, or they are reset first. So a
//! registration enters the timers when it is polled and found too early, not before, and leaves them when it is
//! dropped. Once entered it does not look at the clock again: its waker is called when the timer fires.

use std::fmt;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::Instant;
use super::driver::{Driver, TimerKey};
use super::grid::Grid;
use super::timers::Timers;
use crate::context::{self, PollId};
use crate::sched::SchedulerRef;
use crate::task::coop;

pub(super) const TIMERS_DISABLED: &str = "A Tokio 1.x context was found, but timers are disabled. \
                                          Call `enable_time` on the runtime builder to enable timers.";
const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// A deadline this far away when it was made is taken to be still ahead for the rest of that poll. If the poll takes longer,
/// the timer fires at the processor's next look. A reading costs 25 to 60 ns, about as much as setting and cancelling.
const CLEARLY_AHEAD: Duration = Duration::from_millis(1);

pub(super) struct Registration {
    deadline: Instant,
    scheduler: SchedulerRef,
    /// `Some` from the poll that found the deadline too far away until it fires, is moved into the past, or is dropped.
    key: Option<TimerKey>,
    /// Was clearly in the future when it was made, and was not polled or reset since.
    ahead: Option<Ahead>,
    /// Polled or reset before. SleepUntil then nobody waits, and the deadline does not count as elapsed.
    started: bool,
}

/// A deadline that was clearly in the future when it was made.
struct Ahead {
    /// For the deadline's distance.
    grid: Grid,
    /// The poll that made it. A later poll may begin after the deadline, so it reads the clock.
    made_in: PollId,
}

impl Ahead {
    fn new(distance: Duration) -> Option<Ahead> {
        if distance < CLEARLY_AHEAD {
            return None;
        }
        Some(Ahead { grid: Grid::for_duration(distance), made_in: context::current_poll()? })
    }

    /// `None` in a later poll.
    fn grid(self) -> Option<Grid> {
        (Some(self.made_in) == context::current_poll()).then_some(self.grid)
    }
}

impl Registration {
    /// Binds the deadline to the current runtime.
    ///
    /// # Panics
    ///
    /// Outside a runtime, and if its timers are disabled.
    #[inline]
    #[track_caller]
    pub(super) fn new(deadline: Instant) -> Registration {
        let scheduler = match context::with_scheduler(SchedulerRef::clone) {
            Ok(scheduler) => scheduler,
            Err(error) => panic!("{error}"),
        };
        assert!(Driver::of(&scheduler).is_some(), "{TIMERS_DISABLED}");
        Registration { deadline, scheduler, key: None, ahead: None, started: false }
    }

    /// The same for a deadline that is `distance` away from now, which spares the first poll a look at the clock.
    #[track_caller]
    pub(super) fn ahead(deadline: Instant, distance: Duration) -> Registration {
        let mut registration = Registration::new(deadline);
        registration.ahead = Ahead::new(distance);
        registration
    }

    pub(super) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(super) fn is_elapsed(&self) -> bool {
        self.started && self.is_due()
    }

    /// Moves the deadline. The task that waits for the old one goes on waiting, for the new one.
    pub(super) fn reset(&mut self, deadline: Instant) {
        self.deadline = deadline;
        self.ahead = None;
        self.started = true;
        if let Some(key) = self.key.take() {
            let Some(left) = self.left() else {
                // The next poll must find it elapsed, whether or not the processor gets to its timers before.
                return wake(self.driver().cancel(key));
            };
            if self.driver().reset(&key, self.fires(Grid::for_length(left))) {
                self.key = Some(key);
            }
        }
    }

    /// Moves the deadline and forgets the task that waited.
    pub(super) fn restart(&mut self, deadline: Instant) {
        self.leave();
        self.deadline = deadline;
        self.started = false;
    }

    /// Ready once the deadline has passed. Takes one unit of the task's budget if it is ready.
    ///
    /// # Panics
    ///
    /// If the runtime is being shut down, unless a task of the runtime's own is polled, which is cancelled then. That is told by
    /// the waker, so a task panics where something between it and the timer has a waker of its own (`FuturesUnordered`): it
    /// can't be told from a `block_on` inside of the task, which would wait for ever.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let budget = ready!(coop::poll_proceed(cx));
        ready!(self.poll_deadline(cx));
        budget.made_progress();
        Poll::Ready(())
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.started = true;
        ready!(self.poll_running(cx));
        if let Some(key) = &self.key {
            if self.driver().update(key, cx.waker()) {
                return Poll::Pending;
            }
            self.key = None;
        }
        let ahead = self.ahead.take().filter(|_| !self.driver().clock().may_jump());
        let Some(grid) = ahead.and_then(Ahead::grid).or_else(|| self.left().map(Grid::for_length)) else {
            return Poll::Ready(());
        };
        self.key = Some(self.driver().insert(self.fires(grid), cx.waker().clone()));
        // Once more: the end says so first and empties the timers second, so it either found ours or is seen here.
        ready!(self.poll_running(cx));
        Poll::Pending
    }

    /// After the last poll all who wait are told, because they would wait for ever. Only a task of the runtime's own that
    /// comes out of a blocking section as late as that waits: its future is dropped when its poll has ended.
    fn poll_running(&self, cx: &Context<'_>) -> Poll<()> {
        if !self.driver().is_over() {
            return Poll::Ready(());
        }
        assert!(self.driver().ends_caller(cx.waker()), "{SHUT_DOWN}");
        Poll::Pending
    }

    fn is_due(&self) -> bool {
        self.left().is_none()
    }

    /// The nanoseconds until the deadline; `None` if it has passed.
    fn left(&self) -> Option<u64> {
        self.when().checked_sub(self.driver().clock().due_ns()).filter(|&left| left > 0)
    }

    /// When the timer fires. A clock that is in the hands of a test stops at deadlines, so there they are kept to the
    /// nanosecond.
    fn fires(&self, grid: Grid) -> u64 {
        let grid = if self.driver().clock().may_jump() { Grid::EXACT } else { grid };
        grid.at_or_after(self.when()).min(Timers::LAST)
    }

    /// The deadline, on the runtime's clock. It must be due when the timer fires, or that would be set again and fire at
    /// once, for ever.
    fn when(&self) -> u64 {
        self.driver().clock().from_instant(self.deadline.into_std()).min(Timers::LAST)
    }

    fn driver(&self) -> Driver<'_> {
        Driver::of(&self.scheduler).expect("a registration is made on runtimes with timers only")
    }

    fn leave(&mut self) {
        if let Some(key) = self.key.take() {
            drop(self.driver().cancel(key));
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.leave();
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("deadline", &self.deadline)
            .field("waiting", &self.key.is_some())
            .finish_non_exhaustive()
    }
}

fn wake(waker: Option<std::task::Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}
