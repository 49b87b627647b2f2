//! The scheduler looks at timers, the network and the global queue in time, although each turn
//! takes long.
//!
//! The tests count the turns of other tasks, so a slow system makes no difference. A turn takes as
//! long as the interval between two looks, and less than the threshold.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{JoinHandle, yield_now};
use gmp_exec::time::sleep;

use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Flag, Watchdog, alone, compute_for, multi, wait_until};

const TURN: Duration = Duration::from_millis(12);

/// Tasks that keep the only processor busy with one turn after the other, none of them too long.
struct Busy {
    runtime: Runtime,
    turns: Arc<AtomicUsize>,
    end: Flag,
    tasks: Vec<JoinHandle<()>>,
    _watchdog: Watchdog,
}

impl Busy {
    fn new() -> Busy {
        let runtime = multi(1).blocking_threshold(50 * TURN).build().unwrap();
        let (turns, end, _watchdog) = (Arc::new(AtomicUsize::new(0)), Flag::new(), Watchdog::of(&runtime));
        let spawn = |_| {
            let (turns, end) = (turns.clone(), end.clone());
            runtime.spawn(async move {
                while !end.is_set() {
                    turns.fetch_add(1, SeqCst);
                    compute_for(TURN);
                    yield_now().await;
                }
            })
        };
        let tasks = (0..TASKS).map(spawn).collect();
        wait_until(|| turns.load(SeqCst) >= 2 * TASKS);
        Busy { runtime, turns, end, tasks, _watchdog }
    }

    /// The median of the attempts' results: how many turns other tasks had during the wait.
    fn median(self, attempts: usize, mut wait: impl FnMut(&Busy) -> usize) -> usize {
        let mut waits: Vec<_> = (0..attempts).map(|_| wait(&self)).collect();
        self.end.set();
        self.tasks.into_iter().for_each(|task| self.runtime.block_on(task).unwrap());
        waits.sort_unstable();
        waits[attempts / 2]
    }
}

/// So few that it makes no difference whether ready work is queued before or behind them.
const TASKS: usize = 4;

/// The current turn, one turn until the work is found, and the turns of all tasks before it in the
/// queue.
const SOON: usize = 2 + TASKS;

#[test]
fn a_timer_is_not_forgotten_for_many_long_turns() {
    let _alone = alone();
    let late = Busy::new().median(3, |busy| {
        let turns = busy.turns.clone();
        let timers = async move {
            let mut last = 0;
            // The first one begins somewhere between two looks, the second one right after a look.
            for _ in 0..2 {
                let before = turns.load(SeqCst);
                sleep(TURN / 4).await;
                last = turns.load(SeqCst) - before;
            }
            last
        };
        busy.runtime.block_on(busy.runtime.spawn(timers)).unwrap()
    });
    assert!(late <= SOON - 2, "{late} turns of others");
}

#[test]
fn a_task_from_outside_is_not_forgotten_for_many_long_turns() {
    let _alone = alone();
    let waited = Busy::new().median(5, |busy| {
        let before = busy.turns.load(SeqCst);
        let turns = busy.turns.clone();
        busy.runtime.block_on(busy.runtime.spawn(async move { turns.load(SeqCst) })).unwrap() - before
    });
    assert!(waited <= SOON, "{waited} turns of others");
}

#[test]
fn the_network_is_not_forgotten_for_many_long_turns() {
    let _alone = alone();
    let busy = Busy::new();
    let netpoll = busy.runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let waited = busy.median(5, |busy| {
        let (turns, source) = (busy.turns.clone(), netpoll.clone());
        let reader = busy.runtime.spawn(async move {
            source.wait().await;
            turns.load(SeqCst)
        });
        wait_until(|| netpoll.waiting() == 1);
        let before = busy.turns.load(SeqCst);
        netpoll.make_ready();
        busy.runtime.block_on(reader).unwrap() - before
    });
    assert!(waited <= SOON, "{waited} turns of others");
}
