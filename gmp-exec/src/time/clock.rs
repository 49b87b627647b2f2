//! The clock of one runtime: nanoseconds since the runtime was made.
//!
//! Tests stop the clock and move it. All other programs read it at every timer, which should cost
//! no more than a reading of the system's clock. So a flag tells whether this clock was ever
//! paused, and only then does a reading take the lock around the clock's state.
//!
//! A reading never decreases: pausing keeps the reading, resuming goes on from it. A clock that was
//! advanced by more than 584 years shows users the right moment; timers see the last nanosecond that they
//! can represent, at which every later deadline has passed, too.
//!
//! Only a current-thread runtime may pause its clock. The caller checks that.

use std::sync::atomic::AtomicBool as StaticAtomicBool;
use std::time::{Duration, Instant};

use crate::sync::Mutex;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::atomic::{AtomicBool, AtomicU64};

/// Whether any clock of this process was ever paused. As long as none was, `Instant::now()` needn't
/// find out which runtime is current.
///
/// The type is std's under every cfg, because loom's and shuttle's atomics can't be statics.
static ANY_CLOCK_WAS_PAUSED: StaticAtomicBool = StaticAtomicBool::new(false);

/// See [`ANY_CLOCK_WAS_PAUSED`]. Relaxed is enough: a thread that learned of a pause from another
/// thread is synchronized with that thread.
pub(super) fn any_clock_was_paused() -> bool {
    ANY_CLOCK_WAS_PAUSED.load(Relaxed)
}

#[derive(Debug)]
pub(crate) struct Clock {
    /// The moment that is nanosecond 0.
    origin: Instant,
    /// Set by the first pause and never cleared. While it is false, the hands have never been
    /// changed.
    was_paused: AtomicBool,
    hands: Mutex<Hands>,
    /// The reading at the scheduler's last look at the timers. Maintained only after the clock was
    /// paused.
    looked_at: AtomicU64,
}

#[derive(Debug)]
struct Hands {
    /// The reading when the clock was last paused, resumed or advanced.
    shown: Duration,
    /// When the clock was last resumed; `None` while it is paused.
    running_since: Option<Instant>,
}

/// The clock was paused already.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AlreadyPaused;

/// The clock is running, so its hands can't be moved.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotPaused;

impl Clock {
    pub(crate) fn new(start_paused: bool) -> Clock {
        let origin = Instant::now();
        if start_paused {
            ANY_CLOCK_WAS_PAUSED.store(true, Relaxed);
        }
        Clock {
            origin,
            was_paused: AtomicBool::new(start_paused),
            hands: Mutex::new(Hands { shown: Duration::ZERO, running_since: (!start_paused).then_some(origin) }),
            looked_at: AtomicU64::new(0),
        }
    }

    /// Nanoseconds since the clock was made, without pauses and with advances.
    pub(crate) fn now_ns(&self) -> u64 {
        if self.was_paused.load(Relaxed) { nanos(self.hands.lock().read()) } else { self.running_ns() }
    }

    /// The moment that the clock shows.
    pub(super) fn now(&self) -> Instant {
        if self.may_jump() { self.origin + self.hands.lock().read() } else { Instant::now() }
    }

    /// The reading that decides whether a deadline has passed. After `advance` several timers may
    /// be due that have not fired yet. A timer that is set then must not overtake them, so once the
    /// clock was paused this is the reading at the scheduler's last look at the timers, as on
    /// tokio.
    pub(crate) fn due_ns(&self) -> u64 {
        if self.was_paused.load(Relaxed) { self.looked_at.load(Relaxed) } else { self.now_ns() }
    }

    /// Called when the scheduler looks at the timers.
    pub(crate) fn note_look(&self) {
        if self.was_paused.load(Relaxed) {
            self.looked_at.store(self.now_ns(), Relaxed);
        }
    }

    /// Nanoseconds since the clock was made, by the system's clock.
    #[cfg(not(gmp_lines))]
    pub(crate) fn running_ns(&self) -> u64 {
        nanos(self.origin.elapsed())
    }

    /// The same by the clock of the simulation.
    #[cfg(gmp_lines)]
    pub(crate) fn running_ns(&self) -> u64 {
        gmp_lines::recorder::now_ns()
    }

    /// Whether the clock may jump between two readings, because it was paused before.
    pub(crate) fn may_jump(&self) -> bool {
        self.was_paused.load(Relaxed)
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.was_paused.load(Relaxed) && self.hands.lock().running_since.is_none()
    }

    pub(crate) fn pause(&self) -> Result<(), AlreadyPaused> {
        let mut hands = self.hands.lock();
        if hands.running_since.is_none() {
            return Err(AlreadyPaused);
        }
        *hands = Hands { shown: hands.read(), running_since: None };
        self.looked_at.store(nanos(hands.shown), Relaxed);
        // Set under the lock, after the change of the hands: a reader that sees the flags takes the
        // lock after this function.
        self.was_paused.store(true, Relaxed);
        ANY_CLOCK_WAS_PAUSED.store(true, Relaxed);
        Ok(())
    }

    pub(crate) fn resume(&self) -> Result<(), NotPaused> {
        let mut hands = self.hands.lock();
        if hands.running_since.is_some() {
            return Err(NotPaused);
        }
        hands.running_since = Some(Instant::now());
        Ok(())
    }

    /// Moves the paused clock forward.
    ///
    /// # Panics
    ///
    /// Panics if an `Instant` can't represent so late a moment.
    #[track_caller]
    pub(crate) fn advance(&self, duration: Duration) -> Result<(), NotPaused> {
        let mut hands = self.hands.lock();
        if hands.running_since.is_some() {
            return Err(NotPaused);
        }
        let moved = hands.shown.checked_add(duration).filter(|moved| self.origin.checked_add(*moved).is_some());
        hands.shown = moved.expect("overflow when adding duration to instant");
        Ok(())
    }

    /// The moment at which the clock shows `ns`, as users see it.
    pub(crate) fn to_instant(&self, ns: u64) -> Instant {
        self.origin + Duration::from_nanos(ns)
    }

    /// The reading at `instant`: 0 for moments before the clock was made, and the last nanosecond
    /// that the clock can represent for moments after that.
    #[expect(clippy::wrong_self_convention, reason = "the counterpart of `to_instant`")]
    pub(crate) fn from_instant(&self, instant: Instant) -> u64 {
        nanos(instant.saturating_duration_since(self.origin))
    }
}

impl Hands {
    fn read(&self) -> Duration {
        self.shown + self.running_since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}

/// The nanoseconds of a duration; `u64::MAX` if they don't fit.
pub(super) fn nanos(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos()))
}

#[cfg(all(test, not(loom), not(shuttle)))]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600 * 1_000_000_000;
    const AN_HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_running_clock_follows_the_system() {
        let clock = Clock::new(false);
        let before = Instant::now();
        let shown = clock.to_instant(clock.now_ns());
        assert!(before <= shown && shown <= Instant::now());
        assert!(!clock.is_paused());
    }

    #[test]
    fn a_paused_clock_moves_only_when_advanced() {
        let clock = Clock::new(true);
        assert!(clock.is_paused());
        assert_eq!(clock.now_ns(), 0);
        clock.advance(AN_HOUR).unwrap();
        assert_eq!(clock.now_ns(), HOUR);
        assert_eq!(clock.now_ns(), HOUR);
    }

    #[test]
    fn pausing_keeps_the_reading_and_resuming_goes_on_from_it() {
        let clock = Clock::new(false);
        let before = clock.now_ns();
        clock.pause().unwrap();
        let paused_at = clock.now_ns();
        assert!(before <= paused_at && paused_at < HOUR);
        clock.advance(AN_HOUR).unwrap();
        clock.resume().unwrap();
        let resumed = clock.now_ns();
        assert!((paused_at + HOUR..paused_at + 2 * HOUR).contains(&resumed), "{paused_at} then {resumed}");
        clock.pause().unwrap();
        assert!(clock.now_ns() >= resumed);
    }

    #[test]
    fn misuse_is_reported_and_changes_nothing() {
        let clock = Clock::new(false);
        assert_eq!(clock.resume(), Err(NotPaused));
        assert_eq!(clock.advance(AN_HOUR), Err(NotPaused));
        assert!(clock.now_ns() < HOUR);
        clock.pause().unwrap();
        assert_eq!(clock.pause(), Err(AlreadyPaused));
        assert!(clock.is_paused());
    }

    #[test]
    fn instants_and_readings_are_the_same_moments() {
        let before_the_clock = Instant::now();
        let clock = Clock::new(true);
        for ns in [0, 1, 999_999_999, 1_000_000_000, 30 * 365 * 24 * HOUR] {
            assert_eq!(clock.from_instant(clock.to_instant(ns)), ns);
        }
        assert_eq!(clock.from_instant(before_the_clock), 0);
    }

    #[test]
    fn instants_out_of_range_saturate() {
        let clock = Clock::new(true);
        let millennium = Duration::from_secs(1_000 * 365 * 24 * 3_600);
        if let Some(far) = Instant::now().checked_add(millennium) {
            assert_eq!(clock.from_instant(far), u64::MAX);
        }
        assert_eq!(nanos(Duration::MAX), u64::MAX);
    }
}
