//! Which task a machine polls, read by another thread: never the task of a poll other than the poll
//! asked for, and never the id of one task with the location of another.
//!
//! Seen to fail when `polls` is written and read relaxed, and without the second look. Not seen to
//! fail when the id and the location are written relaxed: here the light fence of `enter` is a
//! fence for all threads; in the product it is a fence for the compiler only.

use std::panic::Location;

use loom::thread;

use crate::sched::state::machine::Machine;
use crate::sched::state::machine::ownership::Region;
use crate::sched::tests::explore;
use crate::task::Id;

const POLLS: u64 = 3;

/// A location for each poll.
fn location(poll: u64) -> &'static Location<'static> {
    let locations = [
        Location::caller(), //
        Location::caller(),
        Location::caller(),
    ];
    locations[poll as usize - 1]
}

#[test]
fn loom_running_belongs_to_the_turn_that_was_asked_for() {
    explore(3, || {
        let machine = Machine::new(1);
        let polling = {
            let machine = machine.clone();
            thread::spawn(move || {
                for poll in 1..=POLLS {
                    machine.running.write(Id::from_u64(poll).unwrap(), location(poll));
                    machine.ownership.begin(Region::Poll);
                    let _ = machine.ownership.enter();
                }
            })
        };
        let turn = machine.ownership.turn();
        if let Some(running) = machine.running_in(turn) {
            assert_eq!(running.task.as_u64(), turn);
            assert_eq!(running.location, location(turn));
        }
        polling.join().unwrap();
    });
}
