//! Which lines a scenario asks other cores for: the places in the code that ask.

use std::collections::BTreeMap;

use crate::scenarios::{PROCESSORS, Scenario};
use crate::{Subject, jobs};

const HOTTEST: usize = 20;

/// Prints the hottest places of a scenario, in transfers for each operation.
pub(super) fn print<S: Subject>(scenario: &Scenario<S>) {
    jobs::prepare::<S>();
    for processors in PROCESSORS {
        println!("{} with {processors} processors:", scenario.name);
        let mut places = mean(scenario, processors).into_iter().collect::<Vec<_>>();
        places.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (place, transfers) in places.into_iter().take(HOTTEST) {
            println!("{transfers:10.3}  {place}");
        }
    }
}

fn mean<S: Subject>(scenario: &Scenario<S>, processors: usize) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for seed in 1..=scenario.seeds {
        let count = jobs::run(scenario, processors, seed);
        let operations = count.operations as u64 * scenario.seeds;
        for (place, transfers) in count.transfers {
            *sums.entry(place.to_string()).or_default() += transfers as f64 / operations as f64;
        }
    }
    sums
}
