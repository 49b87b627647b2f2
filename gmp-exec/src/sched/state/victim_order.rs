//! The orders in which a thief visits the other processors (Go: `stealOrder`).

/// A way to visit `count` processors once each, chosen by `random`: from a random start in a stride that
/// is coprime with their number.
pub(in crate::sched) fn round(count: usize, random: u32) -> impl Iterator<Item = usize> {
    let random = random as usize;
    let (start, least) = (random % count, random / count);
    let mut strides = (0..count).map(move |i| (least + i) % count + 1);
    let stride = strides.find(|&stride| gcd(stride, count) == 1).unwrap_or(1);
    (0..count).map(move |i| (start + i * stride) % count)
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::sched::state::victim_order::round;

    #[test]
    fn a_round_visits_every_processor_once() {
        for count in 1..=64 {
            for random in 0..(count * count) as u32 {
                let visited: Vec<_> = round(count, random).collect();
                assert_eq!(visited.len(), count);
                assert_eq!(visited.iter().copied().collect::<HashSet<_>>().len(), count);
            }
        }
    }

    #[test]
    fn starts_and_strides_vary_independently() {
        for count in 3..=64 {
            let rounds = (0..(count * count) as u32).map(|random| round(count, random).take(2).collect());
            let distinct: HashSet<Vec<usize>> = rounds.collect();
            let strides = (1..count).filter(|&stride| super::gcd(stride, count) == 1).count();
            assert_eq!(distinct.len(), count * strides);
        }
    }
}
