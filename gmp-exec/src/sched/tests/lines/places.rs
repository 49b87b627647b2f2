//! Which lines a scenario asks other cores for: the places in the code that ask.

use std::collections::BTreeMap;

use super::scenarios::Scenario;
use super::{PROCESSORS, jobs};

const HOTTEST: usize = 20;

/// Prints the hottest places of a scenario, in transfers for each operation.
pub(super) fn print(name: &str, seeds: u64, scenario: Scenario) {
    jobs::prepare();
    for processors in PROCESSORS {
        println!("{name} with {processors} processors:");
        let mut places = mean(scenario, processors, seeds).into_iter().collect::<Vec<_>>();
        places.sort_by(|a, b| b.1.total_cmp(&a.1));
        for (place, transfers) in places.into_iter().take(HOTTEST) {
            println!("{transfers:10.3}  {place}");
        }
    }
}

fn mean(scenario: Scenario, processors: usize, seeds: u64) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for seed in 1..=seeds {
        let count = jobs::run(scenario, processors, seed);
        for (place, transfers) in count.transfers {
            *sums.entry(place.to_string()).or_default() += transfers as f64 / (count.operations as u64 * seeds) as f64;
        }
    }
    sums
}
