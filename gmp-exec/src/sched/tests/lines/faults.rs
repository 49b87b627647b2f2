//! Does the count see what it should? Layouts and locks whose transfers are known.

use std::sync::Mutex as StdMutex;

use super::scenarios;
use super::{jobs, turns};
use crate::metrics::Counter;
use crate::sync::lines::recorder;
use crate::sync::{Arc, Mutex};

const TIMES: usize = 100;

/// Two threads count in words of their own, in one line: nearly each count asks the other core.
#[test]
fn lines_of_two_counters_are_shared() {
    #[derive(Default)]
    #[repr(align(64))]
    struct Both([Counter; 2]);
    let transfers = of_two_threads(Both::default(), |both, index| both.0[index].add(1));
    assert!(transfers > TIMES / 2, "{transfers}");
}

/// The same words in lines of their own.
#[test]
fn lines_of_padded_counters_are_not_shared() {
    #[derive(Default)]
    #[repr(align(64))]
    struct Padded(Counter);
    let transfers = of_two_threads(<[Padded; 2]>::default(), |both, index| both[index].0.add(1));
    assert_eq!(transfers, 0);
}

/// A lock and the value inside it come together, if they are in one line.
#[test]
fn lines_of_a_lock_change_hands() {
    #[derive(Default)]
    #[repr(align(64))]
    struct Locked(Mutex<u64>);
    let transfers = of_two_threads(Locked::default(), |lock, _| *lock.0.lock() += 1);
    assert!((TIMES / 2..=6 * TIMES).contains(&transfers), "{transfers}");
}

/// The same seed gives the same count, place by place; another seed does not.
#[test]
fn lines_runs_repeat() {
    jobs::prepare();
    let [first, second, other] = [1, 1, 2].map(|seed| jobs::run(scenario("spawn_outside_64"), 8, seed).transfers);
    assert_eq!(first, second);
    assert_ne!(first, other);
}

/// A thief compares the pointer to a task with the one that it saw. So the count depends on whether
/// a new task gets the memory of one that has ended, and that must not depend on earlier runs.
#[test]
fn lines_runs_repeat_on_a_used_heap() {
    jobs::prepare();
    let run = || jobs::run(scenario("steal"), 64, 1).transfers;
    let first = run();
    for _ in 0..8 {
        let gaps = gaps();
        assert_eq!(run(), first);
        drop(gaps);
    }
}

/// Memory with free blocks between those that are in use, of sizes around that of a task.
fn gaps() -> Vec<Vec<u8>> {
    let blocks = || (0..20_000).map(|i| Vec::with_capacity(64 + i * 40 % 1024));
    let (kept, _freed): (Vec<_>, Vec<_>) = blocks().enumerate().partition(|(i, _)| i % 3 == 0);
    kept.into_iter().map(|(_, block)| block).collect()
}

fn scenario(name: &str) -> scenarios::Scenario {
    scenarios::ALL.into_iter().find(|(row, ..)| *row == name).expect("it exists").2
}

/// The transfers while two threads do something [`TIMES`] times each.
fn of_two_threads<T: Send + Sync + 'static>(shared: T, act: fn(&T, usize)) -> usize {
    let shared = Arc::new(shared);
    let result = Arc::new(StdMutex::new(0));
    let counted = result.clone();
    turns::run(1, move || {
        let threads = [0, 1].map(|index| {
            let shared = shared.clone();
            shuttle::thread::spawn(move || (0..TIMES).for_each(|_| act(&shared, index)))
        });
        recorder::begin();
        for thread in threads {
            thread.join().expect("it does not panic");
        }
        let transfers: u64 = recorder::end().values().sum();
        *counted.lock().expect("not poisoned") = transfers as usize;
    });
    let transfers = *result.lock().expect("not poisoned");
    transfers
}
