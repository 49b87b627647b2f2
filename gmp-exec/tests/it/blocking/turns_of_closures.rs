//! Closures begin in the order in which they were spawned.

use std::sync::{Arc, Mutex};

use gmp_exec::runtime::{Builder, Handle, Runtime};
use gmp_exec::task::{JoinHandle, blocking, spawn_blocking};

use crate::futures::join;
use crate::support::{Flag, Watchdog, current, in_place, multi, run};

const CLOSURES: usize = 300;

fn one_at_a_time() -> impl Iterator<Item = Runtime> {
    let one = |mut builder: Builder| builder.max_blocking_threads(1).build().unwrap();
    [current(), multi(1), multi(2), in_place(1), in_place(2)].into_iter().map(one)
}

/// The order in which closures have begun.
#[derive(Clone, Default)]
struct Begun(Arc<Mutex<Vec<usize>>>);

impl Begun {
    fn note(&self, number: usize) -> impl FnOnce() + Send + 'static {
        let begun = self.0.clone();
        move || begun.lock().unwrap().push(number)
    }

    fn numbers(&self) -> Vec<usize> {
        self.0.lock().unwrap().clone()
    }

    fn assert_order(&self) {
        let begun = self.numbers();
        assert_eq!(begun.len(), CLOSURES);
        let overtaken =
            |(place, number): (usize, &usize)| begun[..place].iter().filter(|&other| other > number).count();
        let worst = begun.iter().enumerate().map(overtaken).max();
        assert_eq!(worst, Some(0), "so many later ones have overtaken one closure");
    }
}

#[test]
fn closures_spawned_from_outside_begin_in_order() {
    for runtime in one_at_a_time() {
        let begun = Begun::default();
        let closures = (0..CLOSURES).map(|number| runtime.spawn_blocking(begun.note(number))).collect();
        run(&runtime, join(closures));
        begun.assert_order();
    }
}

#[test]
fn closures_spawned_by_a_task_begin_in_order() {
    for runtime in one_at_a_time() {
        let begun = Begun::default();
        let spawned = begun.clone();
        run(&runtime, async move {
            join((0..CLOSURES).map(|number| spawn_blocking(spawned.note(number))).collect()).await;
        });
        begun.assert_order();
    }
}

/// A task, another thread and a section of the task spawn closures one after the other, so the
/// order is defined.
#[test]
fn closures_spawned_here_and_there_begin_in_order() {
    for runtime in one_at_a_time() {
        let (begun, release) = (Begun::default(), occupy_the_permit(runtime.handle()));
        let spawned = begun.clone();
        let closures = run(&runtime, async move {
            let mut closures = Vec::new();
            for number in 0..CLOSURES {
                let (closure, handle) = (spawned.note(number), Handle::current());
                closures.push(match number % 3 {
                    0 => spawn_blocking(closure),
                    1 => std::thread::spawn(move || handle.spawn_blocking(closure)).join().unwrap(),
                    _ => blocking(|| spawn_blocking(closure)),
                });
            }
            closures
        });
        release.set();
        run(&runtime, join(closures));
        begun.assert_order();
    }
}

/// A closure that panics, or is aborted while it waits, does not change the turns of the closures
/// behind it.
#[test]
fn the_order_survives_closures_that_panic_or_are_aborted() {
    for runtime in one_at_a_time() {
        let _watchdog = Watchdog::of(&runtime);
        let (begun, release) = (Begun::default(), occupy_the_permit(runtime.handle()));
        let spawn = |number: usize| -> JoinHandle<()> {
            let note = begun.note(number);
            runtime.spawn_blocking(move || {
                note();
                if number % 5 == 0 {
                    std::panic::resume_unwind(Box::new("on purpose"));
                }
            })
        };
        let closures: Vec<_> = (0..CLOSURES).map(spawn).collect();
        closures.iter().skip(1).step_by(3).for_each(JoinHandle::abort);
        release.set();
        for (number, closure) in closures.into_iter().enumerate() {
            let result = runtime.block_on(closure);
            match (number % 3, number % 5) {
                (1, _) => assert!(result.unwrap_err().is_cancelled(), "{number}"),
                (_, 0) => assert!(result.unwrap_err().is_panic(), "{number}"),
                _ => result.unwrap(),
            }
        }
        let expected: Vec<_> = (0..CLOSURES).filter(|number| number % 3 != 1).collect();
        assert!(begun.numbers() == expected, "not in order: {:?}", begun.numbers());
    }
}

/// Runs a closure until the flag is set.
fn occupy_the_permit(runtime: &Handle) -> Flag {
    let (begun, release) = (Flag::new(), Flag::new());
    runtime.spawn_blocking({
        let (begun, release) = (begun.clone(), release.clone());
        move || {
            begun.set();
            release.wait();
        }
    });
    begun.wait();
    release
}
