//! A busy machine's round through the timers of the other processors.

use std::cell::Cell;

/// A machine looks at the timers of one other processor at most this often. Each such look may ask
/// another core for a line that the other machine has just written.
const BETWEEN_NS: u64 = 250_000;

/// Owned by one machine.
#[derive(Debug, Default)]
pub(in crate::sched) struct OtherTimers {
    /// How many looks there were.
    looks: Cell<usize>,
    /// The moment of the last one.
    looked_at: Cell<u64>,
}

impl OtherTimers {
    /// The processor whose timers are next, out of `count` without `own`. `None`: it is too early
    /// for another look.
    pub(in crate::sched) fn next(&self, own: usize, count: usize, now: impl FnOnce() -> u64) -> Option<usize> {
        if count < 2 {
            return None;
        }
        let now = now();
        if now.saturating_sub(self.looked_at.get()) < BETWEEN_NS {
            return None;
        }
        self.looked_at.set(now);
        let look = self.looks.replace(self.looks.get().wrapping_add(1));
        Some((own + 1 + look % (count - 1)) % count)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn each_other_processor_has_its_turn_and_none_comes_too_early() {
        let round = OtherTimers::default();
        let looks = (1..=600).map(|tenth| tenth * BETWEEN_NS / 10);
        let others: Vec<_> = looks.filter_map(|now| round.next(2, 5, || now)).collect();
        assert_eq!(others.len(), 60);
        assert_eq!(others[..5], [3, 4, 0, 1, 3]);
        assert!(!others.contains(&2));
    }

    #[test]
    fn a_processor_without_others_looks_at_none() {
        assert_eq!(OtherTimers::default().next(0, 1, || unreachable!()), None);
    }
}
