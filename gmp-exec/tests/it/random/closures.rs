//! Closures that sleep, panic, change their thread, are aborted and detached.

use std::thread;

use gmp_exec::task::{AtShutdown, JoinHandle, spawn_blocking, spawn_blocking_in_place, spawn_blocking_with};

use super::actor::{Actor, Expected, Fate};
use super::child::Child;
use super::marked::{Marked, Panics, panic_with_payload};
use super::tally::Kind;
use super::thread_state::change_this_thread;
use crate::support::Random;

pub(super) async fn closure(actor: &mut Actor) {
    let (handle, expected) = spawn_one(actor);
    let mut closure = Child::new(handle, expected, &actor.program);
    match actor.random.below(4) {
        0 => closure.abort(),
        1 => return drop(closure),
        _ => {}
    }
    closure.join().await;
}

fn spawn_one(actor: &mut Actor) -> (JoinHandle<Marked>, Expected) {
    let place = actor.random.below(6);
    let may_change = actor.program.means.may_change_threads && place > 0;
    let work = Work::random(actor, may_change);
    let expected = work.expected;
    let run = move || work.run();
    let handle = match place {
        0 => spawn_blocking_in_place(run),
        1 => spawn_blocking_with(AtShutdown::Abandon, run),
        2 => spawn_blocking_with(AtShutdown::Finish, run),
        _ => spawn_blocking(run),
    };
    (handle, expected)
}

struct Work {
    mark: Marked,
    expected: Expected,
    random: Random,
    changes_thread: bool,
}

impl Work {
    fn random(actor: &mut Actor, may_change: bool) -> Work {
        let fate = Fate::random(&mut actor.random);
        let mark = Marked::new(actor.program.tally, Kind::Closure, fate.in_drop(&mut actor.random));
        let expected = Expected { of: mark.of(), fate };
        let changes_thread = may_change && actor.random.below(2) == 0;
        Work { mark, expected, random: Random::new(actor.random.next()), changes_thread }
    }

    fn run(mut self) -> Marked {
        if self.changes_thread {
            change_this_thread(&mut self.random);
        }
        thread::sleep(std::time::Duration::from_micros(self.random.below(800)));
        let (tally, of) = (self.mark.tally(), self.expected.of);
        if self.expected.fate == Fate::PanicsInPoll {
            panic_with_payload(tally, of, Panics::once_or_twice(&mut self.random));
        }
        // Before the output is made: rustc leaks an output if a drop panics on the way out.
        drop(self.mark);
        Marked::output(tally, of, Panics::Never)
    }
}
