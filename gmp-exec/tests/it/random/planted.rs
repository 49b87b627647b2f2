//! Faults that are planted, so that it is known that the model would find them.

use std::time::Duration;

use super::actor::counted;
use super::cell::cell;
use super::keeper::Keeper;
use super::marked::{Marked, Panics};
use super::program::Program;
use super::settings::crowded;
use super::tally::{Kind, Tally};
use super::thread_state::{ThreadState, change_this_thread};
use crate::support::{Random, Watchdog, in_child_that_aborts, multi, panic_message};

fn program(tally: &'static Tally) -> Program {
    let keeper = Keeper::start(1);
    let program = Program::new(tally, &keeper.requests, crowded().1, 0);
    keeper.end();
    program
}

#[test]
fn a_future_that_is_leaked_is_found() {
    static TALLY: Tally = Tally::new();

    // Kept until after the check instead of leaked, which LeakSanitizer would find, too.
    let _future = counted(&program(&TALLY), async {});
    assert_eq!(panic_message(|| TALLY.close()), "left: Future: 1, Closure: 0, Output: 0, Payload: 0");
}

#[test]
fn a_value_that_is_dropped_twice_is_found() {
    static TALLY: Tally = Tally::new();

    let mark = TALLY.mark(Kind::Future);
    drop(mark.copied());
    drop(mark);
    assert!(panic_message(|| TALLY.close()).contains("(Future) went from state 3 to 3"));
}

#[test]
fn an_output_that_is_received_and_dropped_is_found() {
    static TALLY: Tally = Tally::new();

    let output = Marked::output(&TALLY, 0, Panics::Never);
    drop(output.copied());
    output.receive();
    assert!(panic_message(|| TALLY.close()).contains("(Output) went from state 3 to 2"));
}

/// As in a poll on a thread that a closure has changed.
#[test]
fn each_change_of_a_thread_is_found() {
    for seed in 0..20 {
        let change = move || {
            let before = ThreadState::of_this_thread();
            change_this_thread(&mut Random::new(seed));
            assert_ne!(ThreadState::of_this_thread(), before, "seed {seed}");
        };
        std::thread::spawn(change).join().unwrap();
    }
}

/// No thread sets the cell.
#[test]
fn a_wake_up_that_is_lost_is_found() {
    static TALLY: Tally = Tally::new();

    let test = "random::planted::a_wake_up_that_is_lost_is_found";
    in_child_that_aborts(test, 0, "left: Future: 1", || {
        let _watchdog = Watchdog::start(Duration::from_millis(300), || format!("left: {}", TALLY.left()));
        let runtime = multi(2).build().unwrap();
        let (setter, waiting) = cell();
        std::mem::forget(setter);
        drop(runtime.spawn(counted(&program(&TALLY), waiting)));
        TALLY.settle();
    });
}
