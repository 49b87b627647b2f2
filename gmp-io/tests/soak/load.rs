//! Actors that take turns until they are told to stop.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use gmp_exec::runtime::Runtime;
use gmp_exec::task::{JoinHandle, JoinSet};
use gmp_exec::time::timeout;

use crate::dice::Dice;
use crate::kinds::{KINDS, Kind};
use crate::server;
use crate::world::World;

/// A turn takes some ten milliseconds; one that takes so much longer hangs.
const PATIENCE: Duration = Duration::from_secs(30);

/// A stretch of load that has been started.
pub(crate) struct Load {
    pub(crate) world: Arc<World>,
    server: JoinHandle<io::Error>,
    actors: JoinSet<()>,
}

impl Load {
    /// Starts a server and all actors, each with dice of its own.
    pub(crate) fn start(runtime: &Runtime, dice: &mut Dice) -> io::Result<Self> {
        runtime.block_on(async {
            let (address, server) = server::start().await?;
            let world = Arc::new(World::new(address)?);
            let mut actors = JoinSet::new();
            for (number, kind) in KINDS.iter().enumerate() {
                for _ in 0..kind.actors {
                    actors.spawn(take_turns(number, kind, dice.split(), world.clone()));
                }
            }
            Ok(Load { world, server, actors })
        })
    }

    /// Waits until every actor has ended its turn, and the server has gone.
    pub(crate) fn stop(mut self, runtime: &Runtime) -> Arc<World> {
        self.world.stop();
        runtime.block_on(async {
            while let Some(result) = self.actors.join_next().await {
                if let Err(error) = result {
                    self.world.fail(format!("an actor: {error}"));
                }
            }
            self.server.abort();
            if let Ok(error) = self.server.await {
                self.world.fail(format!("the server can't accept: {error}"));
            }
        });
        self.world
    }
}

async fn take_turns(number: usize, kind: &Kind, mut dice: Dice, world: Arc<World>) {
    while !world.stopping() {
        match timeout(PATIENCE, (kind.turn)(dice.split(), world.clone())).await {
            Ok(Ok(())) => world.count(number),
            Ok(Err(error)) => world.fail(format!("{}: {error}", kind.name)),
            Err(_) => world.fail(format!("{}: a turn is not done after {} s", kind.name, PATIENCE.as_secs())),
        }
    }
}
