//! A random load of everything on one runtime, and nothing may be left of the load.
//!
//! 46 tasks take random turns: TCP connections that are closed, half-closed, reset, dropped unread,
//! dropped while a task waits or sends, or cut off by the server; UDP sockets and Unix streams;
//! files that are written, read and removed, FIFOs that are given up on; child processes that exit,
//! talk, are killed, dropped or forgotten; timers that pass and timers that are cancelled; blocking
//! closures, awaited or not, and tasks that block or compute in their poll.
//!
//! Under load, descriptors and threads go up and down by themselves, so a look at a moment proves
//! nothing. The load is therefore stopped twice, after the first minute (or the first half, if that
//! is shorter), when caches, arenas and tables have their size, and at the end. Neither stop comes
//! before each kind of task has had a hundred turns: on a machine that is busy with other things,
//! seconds say little. What is there at rest is compared: descriptors, threads and tasks may not be
//! more, RSS by 16 MiB at most, and no child process may be left, nor a thread when the runtime has
//! ended. An operation that fails without a reason, gives wrong data or takes longer than 30 s
//! fails the soak at once.
//!
//! The load lasts 10 s, or as many as `GMP_SOAK_SECS` says. The long run, with a line every 10 s:
//!
//!     GMP_SOAK_SECS=600 cargo test --release -p gmp-io --test soak -- --nocapture
//!
//! `GMP_SOAK_SEED` is what the dice start from (1 unless told): each actor of a seed does the same
//! things in the same order, the order between actors is the machine's. `GMP_SOAK_PROCS` is the
//! runtime's Ps (2 unless told).

#![cfg(target_os = "linux")]

mod dice;
mod kinds;
mod load;
mod look;
mod server;
mod world;

use std::time::{Duration, Instant};
use std::{env, io, thread};

use gmp_exec::runtime::{Builder, Runtime};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::dice::Dice;
use crate::kinds::KINDS;
use crate::load::Load;
use crate::look::Look;
use crate::world::World;

/// Turns of each kind before the load may stop.
const ENOUGH: u64 = 100;

/// How often a line is printed.
const EVERY: Duration = Duration::from_secs(10);

#[test]
fn nothing_is_left_and_nothing_has_grown() {
    let failures = run().expect("the soak runs");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn setting(variable: &str, otherwise: u64) -> u64 {
    env::var(variable).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{variable} is a number")))
}

/// What was wrong.
fn run() -> io::Result<Vec<String>> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    let duration = Duration::from_secs(setting("GMP_SOAK_SECS", 10));
    let (seed, procs) = (setting("GMP_SOAK_SEED", 1), setting("GMP_SOAK_PROCS", 2));
    println!("seed {seed}, {procs} Ps, {} s", duration.as_secs());
    let runtime = Builder::new_multi_thread()
        .worker_threads(procs as usize)
        .thread_keep_alive(look::KEEP_ALIVE)
        .enable_all()
        .build()?;
    let mut soak = Soak { runtime, dice: Dice::new(seed), start: Instant::now() };

    let first_stop = (duration / 2).min(Duration::from_secs(60));
    let first = match soak.stretch(first_stop)? {
        Stretch::Failed(failures) => return Ok(failures),
        Stretch::AtRest(look) => look,
    };
    match soak.stretch(duration - first_stop)? {
        Stretch::Failed(failures) => Ok(failures),
        Stretch::AtRest(last) => Ok(last.growth(&first).into_iter().chain(soak.end()?).collect()),
    }
}

/// How a stretch of load ended.
enum Stretch {
    Failed(Vec<String>),
    AtRest(Look),
}

struct Soak {
    runtime: Runtime,
    dice: Dice,
    start: Instant,
}

impl Soak {
    /// Load for `duration`, then none until everything is at rest.
    fn stretch(&mut self, duration: Duration) -> io::Result<Stretch> {
        let load = Load::start(&self.runtime, &mut self.dice)?;
        self.watch(&load.world, Instant::now() + duration)?;
        let world = load.stop(&self.runtime);
        let look = Look::at_rest(&self.runtime)?;
        self.print("at rest", &look, &world);
        let mut failures = world.failures();
        failures.extend(look::children()?.map(str::to_owned));
        Ok(if failures.is_empty() { Stretch::AtRest(look) } else { Stretch::Failed(failures) })
    }

    /// Ends the runtime. Says so if one of its threads is still there.
    fn end(self) -> io::Result<Option<String>> {
        drop(self.runtime);
        // This thread, and the one that waits for the tests, if that is another one.
        let own = if thread::current().name() == Some("main") { 1 } else { 2 };
        let deadline = Instant::now() + Duration::from_secs(10);
        // A thread that has been joined is counted until the kernel has tidied it away.
        while look::threads()? > own && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let threads = look::threads()?;
        Ok((threads > own).then(|| format!("threads: {threads} when the runtime had ended")))
    }

    /// Prints a line now and then, until `end` and enough turns, or a failure.
    fn watch(&self, world: &World, end: Instant) -> io::Result<()> {
        let mut line = Instant::now() + EVERY;
        let too_early = || Instant::now() < end || world.turns().any(|turns| turns < ENOUGH);
        while too_early() && !world.stopping() {
            thread::sleep(Duration::from_millis(100));
            if Instant::now() >= line {
                self.print("load", &Look::now(&self.runtime)?, world);
                line += EVERY;
            }
        }
        Ok(())
    }

    fn print(&self, state: &str, look: &Look, world: &World) {
        let turns = KINDS.iter().zip(world.turns()).map(|(kind, turns)| format!("  {} {turns}", kind.name));
        println!("{:>6.0} s {state:<8}{look}{}", self.start.elapsed().as_secs_f64(), turns.collect::<String>());
    }
}
