//! How the network misbehaves.

use super::wish::Weather;
use crate::seeded::decisions::{Decisions, Kind};

/// So many delays are tried between the least and the longest.
const DELAYS: usize = 16;
/// When a lost packet is sent again, and how often it is lost at most.
const AGAIN: u64 = 200_000_000;
const MOST_LOST: u32 = 5;
const SECOND: u64 = 1_000_000_000;

impl Weather {
    /// How long a packet takes.
    pub(super) fn delay(&self, decisions: &mut Decisions) -> u64 {
        let (least, longest) = self.delay;
        let way = if longest > least { decisions.decide(Kind::Net, DELAYS) as u64 } else { 0 };
        least + (longest - least) * way / (DELAYS as u64 - 1)
    }

    /// How long a socket takes to send so many bytes.
    pub(super) fn sending(&self, bytes: usize) -> u64 {
        self.speed.map_or(0, |speed| (bytes as u64).saturating_mul(SECOND) / speed)
    }

    /// How much longer a packet takes because TCP sends it again.
    pub(super) fn again(&self, decisions: &mut Decisions) -> u64 {
        let lost = (0..MOST_LOST).take_while(|_| happens(decisions, self.loss)).count();
        if lost > 0 { AGAIN << (lost - 1) } else { 0 }
    }

    /// How often a datagram arrives.
    pub(super) fn copies(&self, decisions: &mut Decisions) -> usize {
        if happens(decisions, self.loss) { 0 } else { 1 + usize::from(happens(decisions, self.dup)) }
    }

    /// Whether a datagram may arrive before those that were sent before.
    pub(super) fn reorders(&self, decisions: &mut Decisions) -> bool {
        happens(decisions, self.reorder)
    }

    /// How many of so many bytes a call that reads leaves for the next one, but not all.
    pub(super) fn unread(&self, decisions: &mut Decisions, bytes: usize) -> usize {
        decisions.happens_in(Kind::Net, self.short, bytes.saturating_sub(1))
    }

    /// The same of a call that writes.
    pub(super) fn untaken(&self, decisions: &mut Decisions, bytes: usize) -> usize {
        decisions.happens_in(Kind::Net, self.full, bytes.saturating_sub(1))
    }

    pub(super) fn resets(&self, decisions: &mut Decisions) -> bool {
        happens(decisions, self.reset)
    }
}

fn happens(decisions: &mut Decisions, rate: u32) -> bool {
    decisions.happens_in(Kind::Net, rate, 1) == 1
}
