//! A drop of a runtime that takes long says for what it waits.

use std::thread::{self, JoinHandle};

use gmp_exec::task::{self, AtShutdown, spawn_blocking_with};

use crate::support::{Flag, Watchdog, current, in_child, lines_of_stderr, multi};

/// Waits until gmp says what it waits for. Then sets the flag, and returns the line.
fn read_line(end: Flag) -> JoinHandle<String> {
    let mut lines = lines_of_stderr();
    thread::spawn(move || {
        let line = lines.find(|line| line.starts_with("gmp: the drop of a runtime")).unwrap();
        end.set();
        line
    })
}

fn here(line: u32) -> String {
    format!("{}:{line}", file!())
}

#[test]
fn a_drop_that_waits_for_long_says_for_which_tasks() {
    in_child("faults::shutdown::long_waits::a_drop_that_waits_for_long_says_for_which_tasks", || {
        let _watchdog = Watchdog::new();
        let (begun, end) = ([(); 5].map(|()| Flag::new()), Flag::new());
        let block = |index: usize| {
            let (begun, end) = (begun[index].clone(), end.clone());
            move || {
                begun.set();
                end.wait();
            }
        };
        let runtime = multi(2).build().unwrap();
        let (blocked, computing, closures) = (line!() + 1, line!() + 4, line!() + 10);
        task::Builder::new().name("a\nname").spawn_on(async_of(block(0)), runtime.handle()).unwrap();
        {
            let (begun, end) = (begun[1].clone(), end.clone());
            runtime.spawn(async move {
                begun.set();
                end.busy_wait();
            });
        }
        let closure = |index| {
            runtime.spawn_blocking(block(index));
        };
        (2..5).for_each(closure);
        begun.iter().for_each(Flag::wait);
        let line = read_line(end);
        drop(runtime);
        let line = line.join().unwrap();
        let expected = [
            "gmp: the drop of a runtime has waited for 5 s: ".to_owned(),
            format!("task \"a\\nname\", spawned at {}, in futex", here(blocked)),
            format!("task spawned at {}, computing", here(computing)),
            format!("3x closure spawned at {}, one of them in futex", here(closures)),
        ];
        for part in expected {
            assert!(line.contains(&part), "{part} is missing: {line}");
        }
    });
}

async fn async_of(f: impl FnOnce()) {
    f();
}

/// Also for a closure that begins only then.
#[test]
fn a_drop_that_waits_for_long_says_for_which_closures() {
    in_child("faults::shutdown::long_waits::a_drop_that_waits_for_long_says_for_which_closures", || {
        let _watchdog = Watchdog::new();
        let (begun, end) = (Flag::new(), Flag::new());
        let runtime = current().max_blocking_threads(1).build().unwrap();
        let (has_begun, may_end) = (begun.clone(), end.clone());
        let first = line!() + 1;
        runtime.spawn_blocking(move || {
            has_begun.set();
            may_end.wait();
        });
        begun.wait();
        let entered = runtime.enter();
        let (second, may_end) = (line!() + 1, end.clone());
        spawn_blocking_with(AtShutdown::Finish, move || may_end.wait());
        drop(entered);
        let line = read_line(end);
        drop(runtime);
        let line = line.join().unwrap();
        for place in [first, second] {
            assert!(line.contains(&format!("closure spawned at {}, in futex", here(place))), "{line}");
        }
    });
}
