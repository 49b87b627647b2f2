//! Does the count see what it should? Layouts and locks whose transfers are known.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex as StdMutex};

use crate::sync::Mutex;
use crate::sync::atomic::AtomicU64;
use crate::{recorder, turns};

const TIMES: usize = 100;

/// Two threads count in words of their own, in one line: nearly each count asks the other core.
#[test]
fn lines_of_two_counters_are_shared() {
    #[derive(Default)]
    #[repr(align(64))]
    struct Both([AtomicU64; 2]);
    let transfers = of_two_threads(Both::default(), |both, index| {
        both.0[index].fetch_add(1, Relaxed);
    });
    assert!(transfers > TIMES / 2, "{transfers}");
}

/// The same words in lines of their own.
#[test]
fn lines_of_padded_counters_are_not_shared() {
    #[derive(Default)]
    #[repr(align(64))]
    struct Padded(AtomicU64);
    let transfers = of_two_threads(<[Padded; 2]>::default(), |both, index| {
        both[index].0.fetch_add(1, Relaxed);
    });
    assert_eq!(transfers, 0);
}

/// A lock and the value inside it come together, if they are in one line.
#[test]
fn lines_of_a_lock_change_hands() {
    #[derive(Default)]
    #[repr(align(64))]
    struct Locked(Mutex<u64>);
    let transfers = of_two_threads(Locked::default(), |lock, _| *lock.0.lock().expect("never poisoned") += 1);
    assert!((TIMES / 2..=6 * TIMES).contains(&transfers), "{transfers}");
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
    *result.lock().expect("not poisoned")
}
