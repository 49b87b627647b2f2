//! The clock of one runtime: nanoseconds since the runtime was made.
//!
//! Tests want to stop the clock and turn its hands; everybody else reads it at every timer and
//! wants that to be as cheap as the system's own clock. The rule: a flag says whether this clock
//! was ever paused, and only then does a reading go through the lock behind which the hands are
//! kept.
//!
//! A reading never decreases: pausing keeps the reading, resuming goes on from it.
//!
//! Whether a runtime may pause its clock at all (only the current-thread flavour may) is for the
//! caller to check.

use std::sync::atomic::AtomicBool as StaticAtomicBool;
use std::time::{Duration, Instant};

use crate::sync::Mutex;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::atomic::{AtomicBool, AtomicU64};

/// Whether any clock of this process was ever paused. While not, `Instant::now()` need not ask
/// which runtime is current.
///
/// The type is std's under every cfg, because loom's and shuttle's atomics can't be statics.
static ANY_CLOCK_WAS_PAUSED: StaticAtomicBool = StaticAtomicBool::new(false);

/// See [`ANY_CLOCK_WAS_PAUSED`]. Relaxed: who learned of a pause from another thread also sees what
/// came before it.
pub(super) fn any_clock_was_paused() -> bool {
    ANY_CLOCK_WAS_PAUSED.load(Relaxed)
}

#[derive(Debug)]
pub(crate) struct Clock {
    /// The moment that is nanosecond 0.
    origin: Instant,
    /// Set by the first pause and never cleared. While it is false, the hands were never touched.
    was_paused: AtomicBool,
    hands: Mutex<Hands>,
    /// The reading at the scheduler's last look at the timers. Kept once the clock was paused.
    looked_at: AtomicU64,
}

#[derive(Debug)]
struct Hands {
    /// What the clock showed when it was last paused, resumed or advanced.
    shown: u64,
    /// Since when it has been running from there; `None` while it is paused.
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
            hands: Mutex::new(Hands { shown: 0, running_since: (!start_paused).then_some(origin) }),
            looked_at: AtomicU64::new(0),
        }
    }

    /// Nanoseconds since the clock was made, pauses left out, advances included.
    pub(crate) fn now_ns(&self) -> u64 {
        if self.was_paused.load(Relaxed) { self.hands.lock().read() } else { nanos(self.origin.elapsed()) }
    }

    /// What decides whether a deadline has passed. A test that turns the hands sees everything
    /// happen at once that was due in between, so there it is the reading at which the scheduler
    /// has looked at the timers, as on tokio: what somebody waits for now does not overtake them.
    pub(crate) fn due_ns(&self) -> u64 {
        if self.was_paused.load(Relaxed) { self.looked_at.load(Relaxed) } else { self.now_ns() }
    }

    /// The scheduler looks at the timers.
    pub(crate) fn note_look(&self) {
        if self.was_paused.load(Relaxed) {
            self.looked_at.store(self.now_ns(), Relaxed);
        }
    }

    /// Nanoseconds since the clock was made, as the system counts them.
    pub(crate) fn running_ns(&self) -> u64 {
        nanos(self.origin.elapsed())
    }

    /// Whether a reading may be any time later than the last one: the clock was paused before.
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
        self.looked_at.store(hands.shown, Relaxed);
        // Under the lock and after the hands stand still: whoever sees the flags and asks gets the
        // lock after us.
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

    /// Moves the hands of the paused clock forward.
    ///
    /// # Panics
    ///
    /// If the clock can't show so late a moment (some 584 years after it was made).
    #[track_caller]
    pub(crate) fn advance(&self, ns: u64) -> Result<(), NotPaused> {
        let mut hands = self.hands.lock();
        if hands.running_since.is_some() {
            return Err(NotPaused);
        }
        hands.shown = hands.shown.checked_add(ns).expect("overflow when adding duration to instant");
        Ok(())
    }

    /// The moment at which the clock shows `ns`, in the terms in which the user sees it.
    pub(crate) fn to_instant(&self, ns: u64) -> Instant {
        self.origin + Duration::from_nanos(ns)
    }

    /// What the clock shows at `instant`: 0 for everything before the clock was made, the last
    /// nanosecond that it can show for everything too late.
    #[expect(clippy::wrong_self_convention, reason = "the counterpart of `to_instant`")]
    pub(crate) fn from_instant(&self, instant: Instant) -> u64 {
        nanos(instant.saturating_duration_since(self.origin))
    }
}

impl Hands {
    fn read(&self) -> u64 {
        self.running_since.map_or(self.shown, |since| self.shown.saturating_add(nanos(since.elapsed())))
    }
}

/// As many as fit.
pub(super) fn nanos(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000_000_000).saturating_add(u64::from(duration.subsec_nanos()))
}

#[cfg(all(test, not(loom), not(shuttle)))]
mod tests {
    use super::*;

    const HOUR: u64 = 3_600 * 1_000_000_000;

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
        clock.advance(HOUR).unwrap();
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
        clock.advance(HOUR).unwrap();
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
        assert_eq!(clock.advance(HOUR), Err(NotPaused));
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
