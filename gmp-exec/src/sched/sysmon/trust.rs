//! How long a thread must have been seen asleep before its processor is taken.
//!
//! The kernel's answer is about this moment only: a thread that waits 5 µs for a lock is asleep,
//! too. To take its processor is to guess that the sleep goes on, and the next look shows whether
//! the guess was right. A wrong guess has cost two thread switches for nothing. As long as guesses
//! are right, a thread loses its processor at first sight, and waiting tasks need not wait for a
//! second look. Each wrong guess lowers the trust, and with low trust a thread must have been seen
//! asleep for longer. A program whose polls sleep for 30 µs soon keeps its processors (always
//! taking at first sight: 127 % CPU instead of 43 % for 64 such tasks).

use std::time::{Duration, Instant};

use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::{Region, Sighting};
use crate::sync::Arc;
use crate::sys::thread_state::ThreadState;

/// A wrong guess counts as much as this many right ones.
const WRONG: i32 = 8;
/// The level stays between this and its negative, so that old guesses are forgotten.
const MOST: i32 = 32;
/// A guess is not wrong if the sleep has lasted this long, and a poll that has slept for so long is
/// a long one.
const LONG: Duration = Duration::from_micros(200);
/// The required sleep once first sight is not enough. It doubles with each further wrong guess in a
/// row.
const SHORTEST: Duration = Duration::from_micros(20);
/// Trust grows by one point in this time, whatever sysmon sees.
const RECOVERY: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Trust {
    /// Starts at the maximum: users notice the first burst of sleeping tasks most. At zero or more,
    /// a thread loses its processor at first sight.
    level: i32,
    recovered: Option<Instant>,
    open: Vec<Guess>,
}

/// A machine that has lost its processor in this poll or section, because it was asleep.
#[derive(Debug)]
struct Guess {
    machine: Arc<Machine>,
    seen: Sighting,
    at: Instant,
    /// The level has changed because of it.
    is_judged: bool,
}

impl Guess {
    /// Whether the poll goes on asleep. A poll that goes on by computing does not count: such a
    /// thread also sleeps for a moment now and then.
    fn sleeps_on(&self) -> bool {
        let is_in_turn = || self.machine.ownership.is_in_turn(self.seen.turn());
        // Asked twice: a machine that leaves its poll in between may go to sleep as a spare.
        is_in_turn() && self.machine.state() != Some(ThreadState::Runnable) && is_in_turn()
    }
}

impl Default for Trust {
    fn default() -> Trust {
        Trust { level: MOST, recovered: None, open: Vec::new() }
    }
}

impl Trust {
    /// How long a thread must have been seen asleep. Zero: its processor is taken at first sight.
    pub(super) fn required_sleep(&self) -> Duration {
        match u32::try_from(-self.level) {
            Err(_) | Ok(0) => Duration::ZERO,
            Ok(distrust) => SHORTEST * (1 << ((distrust - 1) / WRONG as u32)),
        }
    }

    pub(super) fn add(&mut self, machine: Arc<Machine>, seen: Sighting, at: Instant) {
        self.open.push(Guess { machine, seen, at, is_judged: false });
    }

    /// Called at the next look: are the machines that lost their processor still asleep in the same
    /// poll? If this look is late, a poll that has ended proves nothing.
    ///
    /// Returns whether a machine has slept for [`LONG`] in its poll, and not in a declared section.
    /// Looks follow each other closely after a take, so a machine that sleeps on is looked at again
    /// until then.
    pub(super) fn check(&mut self, now: Instant) -> bool {
        self.recover(now);
        let (mut level, mut any_is_long) = (self.level, false);
        self.open.retain_mut(|guess| {
            let (sleeps_on, is_old) = (guess.sleeps_on(), now.saturating_duration_since(guess.at) >= LONG);
            if !std::mem::replace(&mut guess.is_judged, true) {
                let change = match sleeps_on {
                    true => 1,
                    false if !is_old => -WRONG,
                    false => 0,
                };
                level = (level + change).clamp(-MOST, MOST);
            }
            any_is_long |= sleeps_on && is_old && guess.seen.region == Region::Poll;
            sleeps_on && !is_old
        });
        self.level = level;
        any_is_long
    }

    fn recover(&mut self, now: Instant) {
        let recovered = *self.recovered.get_or_insert(now);
        let points = (now.duration_since(recovered).as_nanos() / RECOVERY.as_nanos()).min(MOST as u128 * 2) as i32;
        if points > 0 {
            self.level = (self.level + points).min(MOST);
            self.recovered = Some(now);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::sched::state::machine::ownership::SECTION_BITS;

    /// A guess about a machine in its first turn.
    fn guess(trust: &mut Trust, region: Region, now: Instant) -> Arc<Machine> {
        let machine = Machine::new(0);
        machine.ownership.begin(region);
        let polls = machine.ownership.turn() << SECTION_BITS;
        trust.add(machine.clone(), Sighting { processor: 0, region, polls }, now);
        machine
    }

    /// A guess about a poll that is over by now.
    fn wrong_guess(trust: &mut Trust, now: Instant) {
        guess(trust, Region::Poll, now).ownership.begin(Region::Poll);
    }

    /// `right` of 9 guesses are about polls that go on.
    fn check(trust: &mut Trust, right: usize, now: Instant) {
        let machines: Vec<_> = (0..right).map(|_| guess(trust, Region::Poll, now)).collect();
        (right..9).for_each(|_| wrong_guess(trust, now));
        assert!(!trust.check(now));
        // The polls end before they are long.
        for machine in machines {
            let _ = machine.ownership.enter();
        }
    }

    /// A declared section may last, and says nothing about polls.
    #[test]
    fn only_polls_that_sleep_on_for_long_are_long() {
        let (mut trust, now) = (Trust::default(), Instant::now());
        for (region, is_long) in [(Region::Poll, true), (Region::Blocking, false), (Region::Offered, false)] {
            guess(&mut trust, region, now);
            assert!(!trust.check(now + LONG / 2), "{region:?}");
            assert_eq!(trust.check(now + LONG), is_long, "{region:?}");
            assert!(!trust.check(now + LONG), "a long poll is news once");
        }
    }

    /// A machine that finds no processor afterwards sleeps in the same turn.
    #[test]
    fn a_machine_that_sleeps_after_its_poll_makes_the_guess_wrong() {
        let (mut trust, now) = (Trust::default(), Instant::now());
        trust.level = 0;
        let _ = guess(&mut trust, Region::Poll, now).ownership.enter();
        assert!(!trust.check(now) && !trust.check(now + LONG));
        assert!(trust.required_sleep() > Duration::ZERO);
    }

    #[test]
    fn one_guess_in_nine_may_be_wrong() {
        let (mut trust, now) = (Trust::default(), Instant::now());
        for _ in 0..100 {
            check(&mut trust, 8, now);
        }
        assert_eq!(trust.required_sleep(), Duration::ZERO);
        for _ in 0..100 {
            check(&mut trust, 7, now);
        }
        assert!(trust.required_sleep() > Duration::ZERO);
    }

    #[test]
    fn the_more_guesses_are_wrong_the_longer_a_sleep_must_be_seen() {
        let (mut trust, now) = (Trust::default(), Instant::now());
        trust.level = 0;
        let mut required_sleep = Vec::new();
        for _ in 0..6 {
            required_sleep.push(trust.required_sleep().as_micros());
            wrong_guess(&mut trust, now);
            assert!(!trust.check(now));
        }
        assert_eq!(required_sleep, [0, 20, 40, 80, 160, 160]);
    }

    #[test]
    fn trust_recovers_with_time() {
        let (mut trust, now) = (Trust::default(), Instant::now());
        check(&mut trust, 0, now);
        assert!(trust.required_sleep() > Duration::ZERO);
        check(&mut trust, 9, now + RECOVERY * MOST as u32);
        assert_eq!(trust.required_sleep(), Duration::ZERO);
    }

    #[test]
    fn a_late_look_makes_no_guess_wrong() {
        let (mut trust, now) = (Trust::default(), Instant::now());
        for _ in 0..MOST {
            wrong_guess(&mut trust, now);
        }
        assert!(!trust.check(now + LONG));
        assert_eq!(trust.required_sleep(), Duration::ZERO);
    }
}
