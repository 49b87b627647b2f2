//! The ring: each pushed task comes out once, to the owner or to one thief.
//!
//! Seen to fail when a thief claims first and copies second, when `pop` or `pop_half` stores `head`
//! instead of a CAS, and when `tail` is published without Release. loom can't show why the owner
//! needs Acquire for `head`, and the thief Release: it never executes a load after a store that
//! comes later in the program.

use loom::thread;

use crate::sched::state::processor::local_queue::OwnerProof;
use crate::sched::state::processor::local_queue::{CAPACITY, LocalQueue};
use crate::sched::tests::explore;
use crate::sched::tests::marks::{Marks, Task};
use crate::sync::Arc;

/// Indices wrap after two tasks.
const BEFORE_THE_WRAP: u32 = u32::MAX - 1;

type Ring = Arc<LocalQueue<Task>>;

/// The caller is the one owner of the queues to which it passes this proof.
fn own() -> OwnerProof {
    // SAFETY: each model has one owner per queue; loom would report a second one.
    unsafe { OwnerProof::new() }
}

fn push(ring: &LocalQueue<Task>, task: Task) {
    assert!(ring.push(&own(), task).is_ok());
}

fn pop_and_run(ring: &LocalQueue<Task>) -> bool {
    ring.pop(&own()).inspect(Task::run).is_some()
}

fn run_all(ring: &LocalQueue<Task>) {
    while pop_and_run(ring) {}
}

/// A thief steals once, into a ring of its own, and then runs all tasks that it has.
fn steal(ring: &Ring, start: u32) {
    let own_ring = LocalQueue::starting_at(start);
    ring.steal_into(&own_ring, &own()).inspect(Task::run);
    run_all(&own_ring);
}

fn spawn_thief(ring: &Ring) -> thread::JoinHandle<()> {
    let ring = ring.clone();
    thread::spawn(move || steal(&ring, 0))
}

/// The owner pushes and pops while a thief copies half of the ring and then claims it. The owner
/// reuses the slots that it has popped, so the copy may be stale. Then the claim must fail.
fn push_and_pop_against_steal(start: u32) {
    let marks = Marks::<6>::new();
    let ring = Ring::new(LocalQueue::starting_at(start));
    (0..3).for_each(|index| push(&ring, marks.task(index)));
    let thief = spawn_thief(&ring);
    for index in 3..6 {
        pop_and_run(&ring);
        push(&ring, marks.task(index));
    }
    run_all(&ring);
    thief.join().unwrap();
    assert_eq!(marks.runs(), [1; 6]);
}

#[test]
fn loom_local_queue_push_and_pop_against_steal() {
    explore(3, || push_and_pop_against_steal(0));
}

/// The same, where the indices wrap.
#[test]
fn loom_local_queue_wrap_around_against_steal() {
    explore(3, || push_and_pop_against_steal(BEFORE_THE_WRAP));
}

/// The owner moves the older half out of a full ring while a thief steals the same half: one of the
/// two gets it.
fn overflow_against_steal(start: u32) {
    let marks = Marks::<5>::new();
    let ring = Ring::new(LocalQueue::starting_at(start));
    (0..CAPACITY).for_each(|index| push(&ring, marks.task(index)));
    let thief = spawn_thief(&ring);
    if let Err(task) = ring.push(&own(), marks.task(CAPACITY)) {
        if let Some(half) = ring.pop_half(&own()) {
            half.iter().for_each(Task::run);
        }
        push(&ring, task);
    }
    run_all(&ring);
    thief.join().unwrap();
    assert_eq!(marks.runs(), [1; 5]);
}

#[test]
fn loom_local_queue_overflow_against_steal() {
    explore(3, || overflow_against_steal(0));
}

/// The same, where the indices wrap.
#[test]
fn loom_local_queue_overflow_against_steal_where_indices_wrap() {
    explore(3, || overflow_against_steal(BEFORE_THE_WRAP));
}

/// Two thieves steal from the same ring: each task goes to one of them or to the owner. The length
/// stays in range.
#[test]
fn loom_local_queue_two_thieves() {
    explore(3, || {
        let marks = Marks::<3>::new();
        let ring = Ring::new(LocalQueue::starting_at(BEFORE_THE_WRAP));
        (0..2).for_each(|index| push(&ring, marks.task(index)));
        let thieves = [spawn_thief(&ring), spawn_thief(&ring)];
        push(&ring, marks.task(2));
        assert!(ring.len() <= 3);
        run_all(&ring);
        thieves.into_iter().for_each(|thief| thief.join().unwrap());
        assert_eq!(marks.runs(), [1; 3]);
    });
}
