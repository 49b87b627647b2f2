//! How long a thread must have been seen asleep before its processor is taken.
//!
//! The kernel's word is about this moment: a thread that waits 5 µs for a lock is asleep, too. To take from it is a bet that the
//! sleep goes on; the next look shows whether it did. A lost bet has cost two changes of threads for nothing. So as long as bets
//! are won a thread loses its processor at first sight, and nobody waits for a second look; each that is lost asks for more. A
//! program whose polls sleep for 30 µs soon keeps its processors (at first sight: 127 % CPU instead of 43 % for 64 such tasks).

use std::time::{Duration, Instant};

use crate::sched::state::machine::Machine;
use crate::sync::Arc;
use crate::sys::thread_state::ThreadState;

/// A lost bet outweighs so many that are won.
const LOSS: i32 = 8;
/// No more luck, nor bad luck, than this is remembered.
const MOST: i32 = 32;
/// A sleep that goes on for so long was worth the bet.
const LONG: Duration = Duration::from_micros(200);
/// The shortest sleep to be seen when bets at first sight are lost. It doubles with each further bet that is lost in a row.
const PATIENCE: Duration = Duration::from_micros(20);
/// Time heals: one point in this time.
const HEAL: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Bets {
    /// Begins with trust: the first burst of sleeping tasks is the one that is noticed most.
    luck: i32,
    healed: Option<Instant>,
    open: Vec<Bet>,
}

/// A machine has lost its processor in this poll or section.
#[derive(Debug)]
struct Bet {
    machine: Arc<Machine>,
    turn: u64,
    at: Instant,
}

impl Bet {
    /// Whether the poll goes on, and not by computing: a thread that computes sleeps for a moment now and then, too.
    fn sleeps_on(&self) -> bool {
        self.machine.ownership.turn() == self.turn && self.machine.state() != Some(ThreadState::Runnable)
    }
}

impl Default for Bets {
    fn default() -> Bets {
        Bets { luck: MOST, healed: None, open: Vec::new() }
    }
}

impl Bets {
    /// How long a thread must have been seen asleep; zero: take at first sight.
    pub(super) fn patience(&self) -> Duration {
        match u32::try_from(-self.luck) {
            Err(_) | Ok(0) => Duration::ZERO,
            Ok(bad_luck) => PATIENCE * (1 << ((bad_luck - 1) / LOSS as u32)),
        }
    }

    pub(super) fn place(&mut self, machine: Arc<Machine>, turn: u64, at: Instant) {
        self.open.push(Bet { machine, turn, at });
    }

    /// At the next look: does what was taken from still go on? If that look comes late nothing is known of what has ended.
    pub(super) fn settle(&mut self, now: Instant) {
        self.heal(now);
        for bet in self.open.drain(..) {
            let change = match bet.sleeps_on() {
                true => 1,
                false if now.saturating_duration_since(bet.at) < LONG => -LOSS,
                false => 0,
            };
            self.luck = (self.luck + change).clamp(-MOST, MOST);
        }
    }

    fn heal(&mut self, now: Instant) {
        let healed = *self.healed.get_or_insert(now);
        let points = (now.duration_since(healed).as_nanos() / HEAL.as_nanos()).min(MOST as u128 * 2) as i32;
        if points > 0 {
            self.luck = (self.luck + points).min(MOST);
            self.healed = Some(now);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::sched::state::machine::ownership::Region;

    /// `won` of 9 bets are about polls that go on.
    fn settle(bets: &mut Bets, won: usize, now: Instant) {
        for number in 0..9 {
            let machine = Machine::new(number);
            bets.place(machine.clone(), machine.ownership.turn(), now);
            if number >= won {
                machine.ownership.begin(Region::Poll);
            }
        }
        bets.settle(now);
    }

    #[test]
    fn one_bet_in_nine_may_be_lost() {
        let (mut bets, now) = (Bets::default(), Instant::now());
        for _ in 0..100 {
            settle(&mut bets, 8, now);
        }
        assert_eq!(bets.patience(), Duration::ZERO);
        for _ in 0..100 {
            settle(&mut bets, 7, now);
        }
        assert!(bets.patience() > Duration::ZERO);
    }

    #[test]
    fn the_more_bets_are_lost_the_longer_a_sleep_must_be_seen() {
        let (mut bets, now) = (Bets::default(), Instant::now());
        bets.luck = 0;
        let mut patience = Vec::new();
        for _ in 0..6 {
            patience.push(bets.patience().as_micros());
            let machine = Machine::new(0);
            bets.place(machine.clone(), machine.ownership.turn() + 1, now);
            bets.settle(now);
        }
        assert_eq!(patience, [0, 20, 40, 80, 160, 160]);
    }

    #[test]
    fn bad_luck_is_forgotten() {
        let (mut bets, now) = (Bets::default(), Instant::now());
        settle(&mut bets, 0, now);
        assert!(bets.patience() > Duration::ZERO);
        settle(&mut bets, 9, now + HEAL * MOST as u32);
        assert_eq!(bets.patience(), Duration::ZERO);
    }

    #[test]
    fn a_late_look_loses_no_bet() {
        let (mut bets, now) = (Bets::default(), Instant::now());
        for _ in 0..MOST {
            bets.place(Machine::new(0), 1, now);
        }
        bets.settle(now + LONG);
        assert_eq!(bets.patience(), Duration::ZERO);
    }
}
