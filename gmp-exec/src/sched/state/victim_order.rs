//! The orders in which a thief visits the other processors (Go: `stealOrder`).

/// The ways to visit `count` processors once each.
#[derive(Debug)]
pub(crate) struct VictimOrder {
    count: usize,
    /// Every stride below `count` that is coprime with it; `[1]` for one processor.
    strides: Box<[usize]>,
}

impl VictimOrder {
    pub(crate) fn new(count: usize) -> VictimOrder {
        let strides = (1..=count).filter(|&stride| gcd(stride, count) == 1).collect();
        VictimOrder { count, strides }
    }

    /// One round, chosen by `random`.
    pub(crate) fn round(&self, random: u32) -> impl Iterator<Item = usize> + use<> {
        let random = random as usize;
        let count = self.count;
        let stride = self.strides[random / count % self.strides.len()];
        let start = random % count;
        (0..count).map(move |i| (start + i * stride) % count)
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::sched::state::victim_order::VictimOrder;

    #[test]
    fn a_round_visits_every_processor_once() {
        for count in 1..=64 {
            let order = VictimOrder::new(count);
            for random in 0..(count * order.strides.len()) as u32 {
                let visited: Vec<_> = order.round(random).collect();
                assert_eq!(visited.len(), count);
                assert_eq!(visited.iter().copied().collect::<HashSet<_>>().len(), count);
            }
        }
    }

    #[test]
    fn starts_and_strides_vary_independently() {
        for count in 3..=64 {
            let order = VictimOrder::new(count);
            assert!(order.strides.len() >= 2);
            let rounds = (0..(count * order.strides.len()) as u32).map(|random| order.round(random).take(2).collect());
            let distinct: HashSet<Vec<usize>> = rounds.collect();
            assert_eq!(distinct.len(), count * order.strides.len());
        }
    }
}
