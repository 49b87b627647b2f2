//! A deadline on one runtime's clock and, while a task waits for it, a timer of a processor.
//!
//! Most deadlines are never waited for: the future that they limit is ready at once, or they are
//! reset first. So a registration sets its timer only when it is polled before its deadline, and
//! removes the timer when it is dropped. While the timer is set, the registration does not read the
//! clock: the timer wakes its waker when it fires.

use std::fmt;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use super::Instant;
use super::driver::{Driver, TimerKey};
use super::grid::Grid;
use super::timers::Timers;
use crate::context::{self, PollId};
use crate::sched::SchedulerRef;
use crate::task::{Wait, coop};

pub(super) const TIMERS_DISABLED: &str = "A Tokio 1.x context was found, but timers are disabled. \
                                          Call `enable_time` on the runtime builder to enable timers.";
const SHUT_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// A deadline that passed less than this before the first poll still waits for a look at the
/// timers, so that tasks which were woken earlier run first. The same holds on tokio, whose timers
/// have a resolution of milliseconds, for deadlines after its last look.
const JUST_PASSED: Duration = Duration::from_millis(1);

pub(super) struct Registration {
    deadline: Instant,
    scheduler: SchedulerRef,
    /// `Some` from a poll before the deadline until the timer fires, the deadline is moved into the
    /// past, or the registration is dropped.
    key: Option<TimerKey>,
    /// `Some` if the deadline was not in the past when it was made, and the registration was not
    /// polled or reset since.
    ahead: Option<Ahead>,
    /// Whether the registration was polled or reset. Before that no task waits, and the deadline
    /// does not count as elapsed.
    started: bool,
}

/// A deadline that was not in the past when it was made. For the rest of that poll the registration
/// waits for a look at the timers, whether or not the deadline has passed. This saves a reading of
/// the clock: 25 to 60 ns, about as much as setting and cancelling a timer.
struct Ahead {
    /// The grid for the deadline's distance.
    grid: Grid,
    /// The poll that made the deadline. A later poll may begin after the deadline, so it reads the
    /// clock.
    made_in: PollId,
}

impl Ahead {
    fn new(distance: Duration) -> Option<Ahead> {
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
    /// Panics outside a runtime, and if the runtime's timers are disabled.
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

    /// Like [`new`](Self::new), for a deadline that is `distance` away from now. This saves the
    /// first poll a reading of the clock.
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

    /// Moves the deadline. A task that waits for the old deadline now waits for the new one.
    pub(super) fn reset(&mut self, deadline: Instant) {
        self.deadline = deadline;
        self.ahead = None;
        self.started = true;
        if let Some(key) = self.key.take() {
            let Some(left) = self.left() else {
                // The next poll must find the deadline elapsed, whether or not the processor has
                // looked at its timers before.
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
    /// Panics if the runtime is being shut down, unless this is polled by a task of the runtime,
    /// which will be cancelled. The waker identifies the task. So a task panics if a combinator
    /// such as `FuturesUnordered` polls the timer with its own waker: that can't be distinguished
    /// from a `block_on` inside of the task, which would never return.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let budget = ready!(coop::poll_proceed(cx));
        ready!(self.poll_deadline(cx));
        budget.made_progress();
        Poll::Ready(())
    }

    fn poll_deadline(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let is_first = !std::mem::replace(&mut self.started, true);
        ready!(self.poll_running(cx));
        if let Some(key) = &self.key {
            if self.driver().update(key, cx.waker()) {
                context::note_wait(Wait::Timer(self.when()));
                return Poll::Pending;
            }
            self.key = None;
        }
        let ahead = self.ahead.take().filter(|_| !self.driver().clock().may_jump());
        let Some(grid) = ahead.and_then(Ahead::grid).or_else(|| self.grid(is_first)) else {
            return Poll::Ready(());
        };
        let at = self.fires(grid);
        self.key = Some(self.driver().insert(at, cx.waker().clone()));
        // Check once more: the shutdown first sets its flag and then empties the timers, so either
        // it has found this timer, or its flag is seen here.
        ready!(self.poll_running(cx));
        context::note_wait(Wait::Timer(at));
        Poll::Pending
    }

    /// After the runtime's last poll no timer fires, so futures elsewhere panic instead of waiting.
    /// Only a task of the runtime that leaves a blocking section so late still waits: its future is
    /// dropped when its poll has ended.
    fn poll_running(&self, cx: &Context<'_>) -> Poll<()> {
        if !self.driver().is_over() {
            return Poll::Ready(());
        }
        assert!(self.driver().ends_caller(cx.waker()), "{SHUT_DOWN}");
        Poll::Pending
    }

    /// The grid for the time that is left; `None` if the deadline has passed.
    fn grid(&self, is_first_poll: bool) -> Option<Grid> {
        match self.left() {
            Some(left) => Some(Grid::for_length(left)),
            None => (is_first_poll && self.has_just_passed()).then_some(Grid::EXACT),
        }
    }

    /// Never on a clock that was paused, where tokio's timers are ready at once, too.
    fn has_just_passed(&self) -> bool {
        let clock = self.driver().clock();
        // Compares instants, because the clock shows 0 for all deadlines before its origin.
        let now = clock.to_instant(clock.due_ns());
        !clock.may_jump() && now.saturating_duration_since(self.deadline.into_std()) < JUST_PASSED
    }

    fn is_due(&self) -> bool {
        self.left().is_none()
    }

    /// The nanoseconds until the deadline; `None` if it has passed.
    fn left(&self) -> Option<u64> {
        self.when().checked_sub(self.driver().clock().due_ns()).filter(|&left| left > 0)
    }

    /// When the timer fires. A paused clock stops at deadlines, so there a timer fires exactly at
    /// its deadline.
    fn fires(&self, grid: Grid) -> u64 {
        let grid = if self.driver().clock().may_jump() { Grid::EXACT } else { grid };
        grid.at_or_after(self.when()).min(Timers::LAST)
    }

    /// The deadline on the runtime's clock. It must not be later than the moment at which the timer
    /// fires: otherwise the timer would be set again and fire at once, endlessly.
    fn when(&self) -> u64 {
        self.driver().clock().from_instant(self.deadline.into_std()).min(Timers::LAST)
    }

    fn driver(&self) -> Driver<'_> {
        Driver::of_enabled(&self.scheduler)
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
