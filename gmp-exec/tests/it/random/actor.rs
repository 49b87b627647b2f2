//! An actor: a task that executes random operations, and ends in a random way.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::cell::Setter;
use super::marked::{Marked, Panics, panic_with_payload};
use super::program::Program;
use super::steps::step;
use super::tally::Kind;
use crate::support::Random;

/// How a task ends, unless it is cancelled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fate {
    Returns,
    PanicsInPoll,
    /// The future or closure panics when it is dropped, finished or not.
    PanicsInDrop,
}

impl Fate {
    pub(super) fn random(random: &mut Random) -> Fate {
        match random.below(12) {
            0 => Fate::PanicsInPoll,
            1 => Fate::PanicsInDrop,
            _ => Fate::Returns,
        }
    }

    pub(super) fn in_drop(self, random: &mut Random) -> Panics {
        if self == Fate::PanicsInDrop { Panics::once_or_twice(random) } else { Panics::Never }
    }
}

/// What the handle of a task must report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    pub(super) of: usize,
    pub(super) fate: Fate,
}

pub(super) struct Actor {
    pub(super) program: Program,
    pub(super) random: Random,
    expected: Expected,
    output_panics: Panics,
    /// Set when the actor ends.
    errand: Option<Setter>,
}

/// A future that is counted.
pub(super) struct Life<T> {
    work: Pin<Box<dyn Future<Output = T> + Send>>,
    _mark: Marked,
}

pub(super) fn actor(program: &Program, random: &mut Random, errand: Option<Setter>) -> (Life<Marked>, Expected) {
    let fate = Fate::random(random);
    let output_panics = if random.below(8) == 0 { Panics::once_or_twice(random) } else { Panics::Never };
    actor_with(program, random, fate, output_panics, errand)
}

/// One whose future and output may be dropped by code that can't contain a panic.
pub(super) fn tame_actor(program: &Program, random: &mut Random) -> (Life<Marked>, Expected) {
    actor_with(program, random, Fate::Returns, Panics::Never, None)
}

fn actor_with(
    program: &Program,
    random: &mut Random,
    fate: Fate,
    output_panics: Panics,
    errand: Option<Setter>,
) -> (Life<Marked>, Expected) {
    let mark = Marked::new(program.tally, Kind::Future, fate.in_drop(random));
    let expected = Expected { of: mark.of(), fate };
    let random = Random::new(random.next());
    let actor = Actor { program: program.clone(), random, expected, output_panics, errand };
    (Life { work: Box::pin(act(actor)), _mark: mark }, expected)
}

/// Any other future of the program.
pub(super) fn counted<T>(program: &Program, work: impl Future<Output = T> + Send + 'static) -> Life<T> {
    Life { work: Box::pin(work), _mark: Marked::new(program.tally, Kind::Future, Panics::Never) }
}

async fn act(mut actor: Actor) -> Marked {
    for _ in 0..1 + actor.random.below(8) {
        step(&mut actor).await;
    }
    drop(actor.errand.take());
    let (tally, Expected { of, fate }) = (actor.program.tally, actor.expected);
    if fate == Fate::PanicsInPoll {
        panic_with_payload(tally, of, Panics::once_or_twice(&mut actor.random));
    }
    Marked::output(tally, of, actor.output_panics)
}

impl Actor {
    pub(super) fn micros(&mut self, limit: u64) -> Duration {
        Duration::from_micros(self.random.below(limit))
    }
}

impl<T> Future for Life<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        self.work.as_mut().poll(cx)
    }
}
