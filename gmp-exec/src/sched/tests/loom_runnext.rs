//! The slot before the ring: one writer, any thief.
//!
//! Seen to fail when `replace` (its store or its swap) or `steal` is relaxed, and when `take` loads
//! and stores instead of swapping.

use loom::thread;

use crate::sched::state::processor::local_queue::OwnerProof;
use crate::sched::state::processor::runnext::RunNext;
use crate::sched::tests::explore;
use crate::sched::tests::marks::{Marks, Task};
use crate::sync::Arc;

fn own() -> OwnerProof {
    // SAFETY: each model has one owner; loom would report a second one.
    unsafe { OwnerProof::new() }
}

fn spawn_thief(slot: &Arc<RunNext<Task>>) -> thread::JoinHandle<()> {
    let slot = slot.clone();
    thread::spawn(move || {
        slot.see().and_then(|seen| slot.steal(seen)).inspect(Task::run);
    })
}

/// The owner displaces the task in the slot and empties the slot, while a thief takes the task that
/// it has seen.
#[test]
fn loom_runnext_replace_and_take_against_steal() {
    explore(5, || {
        let marks = Marks::<3>::new();
        let slot = Arc::new(RunNext::new());
        let displaced = slot.replace(&own(), marks.task(0));
        assert!(displaced.is_none());
        let thieves = [spawn_thief(&slot), spawn_thief(&slot)];
        slot.replace(&own(), marks.task(1)).inspect(Task::run);
        slot.take(&own()).inspect(Task::run);
        slot.replace(&own(), marks.task(2)).inspect(Task::run);
        thieves.into_iter().for_each(|thief| thief.join().unwrap());
        slot.take(&own()).inspect(Task::run);
        assert_eq!(marks.runs(), [1; 3]);
    });
}

/// The task that the thief has seen runs and comes back before the theft: the thief may take it,
/// and sees that it ran.
#[test]
fn loom_runnext_steals_what_came_back() {
    explore(5, || {
        let marks = Marks::<1>::new();
        let slot = Arc::new(RunNext::new());
        let displaced = slot.replace(&own(), marks.task(0));
        assert!(displaced.is_none());
        let thief = spawn_thief(&slot);
        if let Some(task) = slot.take(&own()) {
            task.run();
            assert!(slot.replace(&own(), task).is_none());
        }
        thief.join().unwrap();
        slot.take(&own()).inspect(Task::run);
        assert!(matches!(marks.runs(), [1] | [2]));
    });
}
