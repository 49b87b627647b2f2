//! The ring: what is pushed comes out once, whoever takes it out.
//!
//! Seen to fail when a thief claims first and copies second, when `pop` or `pop_half` stores `head` instead of a CAS, and
//! when `tail` is published without Release. loom cannot show why the owner needs Acquire for `head`, and the thief
//! Release: it does not execute a load after a store that comes later in the program.

use loom::thread;

use crate::sched::state::processor::local_queue::{CAPACITY, LocalQueue, Push};
use crate::sched::state::processor::owner_proof::OwnerProof;
use crate::sched::tests::explore;
use crate::sched::tests::marks::{Marks, Task};
use crate::sync::Arc;

/// Indices wrap after two tasks.
const BEFORE_THE_WRAP: u32 = u32::MAX - 1;

type Ring = Arc<LocalQueue<Task>>;

/// The caller is the one thread that owns the queues it shows this to.
fn own() -> OwnerProof {
    // SAFETY: each model has one owner per queue; loom checks what would go wrong otherwise.
    unsafe { OwnerProof::new() }
}

fn push(ring: &LocalQueue<Task>, task: Task) {
    assert!(matches!(ring.push(&own(), task), Push::Done));
}

fn pop_and_run(ring: &LocalQueue<Task>) -> bool {
    ring.pop(&own()).inspect(Task::run).is_some()
}

fn run_all(ring: &LocalQueue<Task>) {
    while pop_and_run(ring) {}
}

/// A thief with a ring of its own, which it steals into once, and then runs all that it has.
fn steal(ring: &Ring, start: u32) {
    let own_ring = LocalQueue::starting_at(start);
    ring.steal_into(&own_ring, &own()).inspect(Task::run);
    run_all(&own_ring);
}

fn spawn_thief(ring: &Ring) -> thread::JoinHandle<()> {
    let ring = ring.clone();
    thread::spawn(move || steal(&ring, 0))
}

/// The owner pushes and pops while a thief copies half of the ring and then claims it. The owner reuses the slots that
/// it has popped, so the copy may be stale; then the claim must fail.
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

/// The owner moves the older half of a full ring out while a thief takes its half: of both, one.
fn overflow_against_steal(start: u32) {
    let marks = Marks::<5>::new();
    let ring = Ring::new(LocalQueue::starting_at(start));
    (0..CAPACITY).for_each(|index| push(&ring, marks.task(index)));
    let thief = spawn_thief(&ring);
    if let Push::Full(task) = ring.push(&own(), marks.task(CAPACITY)) {
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

/// Two thieves rob the same ring: each task goes to one of the three. The length that they see stays in range.
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
