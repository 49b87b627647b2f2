//! The kinds of load: what one turn of an actor does.
//!
//! A turn checks its results: an echo that differs, a timer that is early, or an error that no turn
//! provoked fails the soak. Each turn rolls its dice once and does one thing; that there are many
//! actors makes the mixture.

mod blocking;
mod connections;
mod datagrams;
mod files;
mod processes;
mod timers;

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use crate::dice::Dice;
use crate::world::World;

/// What an actor does in one turn.
pub(crate) type Turn = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// A kind of load.
#[derive(Clone, Copy)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Tasks that take turns.
    pub(crate) actors: usize,
    pub(crate) turn: fn(Dice, Arc<World>) -> Turn,
}

/// All of them.
pub(crate) const KINDS: [Kind; 6] = [
    Kind { name: "connections", actors: 16, turn: |dice, world| Box::pin(connections::turn(dice, world)) },
    Kind { name: "datagrams", actors: 4, turn: |dice, _| Box::pin(datagrams::turn(dice)) },
    Kind { name: "files", actors: 4, turn: |dice, world| Box::pin(files::turn(dice, world)) },
    Kind { name: "processes", actors: 2, turn: |dice, _| Box::pin(processes::turn(dice)) },
    Kind { name: "timers", actors: 16, turn: |dice, _| Box::pin(timers::turn(dice)) },
    Kind { name: "blocking", actors: 4, turn: |dice, _| Box::pin(blocking::turn(dice)) },
];

/// Fails the turn, with the reason.
fn wrong(what: &str) -> io::Error {
    io::Error::other(what)
}

fn same(sent: &[u8], received: &[u8]) -> io::Result<()> {
    if sent == received { Ok(()) } else { Err(wrong("what was received is not what was sent")) }
}
