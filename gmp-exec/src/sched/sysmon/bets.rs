//! Whether to take a processor from a thread at the first sight of it sleeping.
//!
//! The kernel's word is about this moment: a thread that waits 5 µs for a lock is asleep, too. To take at first sight is a bet
//! that the sleep goes on; the next look shows whether it did. A lost bet has cost two changes of threads for nothing. So as long
//! as bets are won nobody waits for a second look, and a program that sleeps for a moment in every poll (30 µs in each of 64
//! tasks: 127 % CPU instead of 43 %) soon gets one.

use crate::sched::machine::Machine;
use crate::sync::Arc;
use std::time::{Duration, Instant};

/// A lost bet outweighs so many that are won.
const LOSS: i32 = 8;
/// No more luck, nor bad luck, than this is remembered.
const MOST: i32 = 32;
/// A sleep of this length was worth the bet, whether it goes on or not.
const LONG: Duration = Duration::from_micros(200);
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
    at_first_sight: bool,
    at: Instant,
}

impl Default for Bets {
    fn default() -> Bets {
        Bets { luck: MOST, healed: None, open: Vec::new() }
    }
}

impl Bets {
    /// Whether the last bets were won.
    pub(super) fn are_worth_it(&self) -> bool {
        self.luck >= 0
    }

    pub(super) fn place(&mut self, machine: &Arc<Machine>, turn: u64, at_first_sight: bool, at: Instant) {
        self.open.push(Bet { machine: machine.clone(), turn, at_first_sight, at });
    }

    /// At the next look: does what was taken from still go on? What was taken at second sight and goes on would have been won,
    /// too. If the next look comes late nothing is known of what has ended.
    pub(super) fn settle(&mut self, now: Instant) {
        self.heal(now);
        for bet in self.open.drain(..) {
            let change = match bet.machine.ownership.turn() == bet.turn {
                true => 1,
                false if bet.at_first_sight && now.duration_since(bet.at) < LONG => -LOSS,
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
    use crate::sched::ownership::Region;

    /// `won` of 9 bets are about polls that go on.
    fn settle(bets: &mut Bets, won: usize, now: Instant) {
        for number in 0..9 {
            let machine = Machine::new(number);
            let turn = machine.ownership.turn();
            bets.place(&machine, turn, true, now);
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
        assert!(bets.are_worth_it());
        for _ in 0..100 {
            settle(&mut bets, 7, now);
        }
        assert!(!bets.are_worth_it());
    }

    #[test]
    fn bad_luck_is_forgotten() {
        let (mut bets, now) = (Bets::default(), Instant::now());
        settle(&mut bets, 0, now);
        assert!(!bets.are_worth_it());
        settle(&mut bets, 9, now + HEAL * MOST as u32);
        assert!(bets.are_worth_it());
    }

    #[test]
    fn a_late_look_loses_no_bet() {
        let (mut bets, now) = (Bets::default(), Instant::now());
        for _ in 0..MOST {
            bets.place(&Machine::new(0), 1, true, now);
        }
        bets.settle(now + LONG);
        assert!(bets.are_worth_it());
    }

    #[test]
    fn what_was_taken_at_second_sight_can_only_be_won() {
        let (mut bets, now) = (Bets::default(), Instant::now());
        settle(&mut bets, 0, now);
        let machine = Machine::new(0);
        for _ in 0..MOST {
            bets.place(&machine, machine.ownership.turn(), false, now);
            bets.place(&machine, machine.ownership.turn() + 1, false, now);
        }
        bets.settle(now);
        assert!(bets.are_worth_it());
    }
}
