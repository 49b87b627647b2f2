//! A random load of everything on one gmp runtime, for minutes, and nothing may be left of it.
//!
//! Under load, descriptors and threads go up and down by themselves, so a look at a moment proves nothing. The load is
//! therefore stopped, and only what is there at rest is compared: once after the first minute, when caches, arenas and
//! tables have their size, and once at the end.

mod args;
mod dice;
mod kinds;
mod load;
mod look;
mod server;
mod world;

use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{io, thread};

use gmp_benches::{cli, limits};
use gmp_exec::runtime::{Builder, Runtime};

use crate::args::Options;
use crate::dice::Dice;
use crate::kinds::KINDS;
use crate::load::Load;
use crate::look::Look;
use crate::world::World;

/// How often a line is printed.
const EVERY: Duration = Duration::from_secs(10);

fn main() -> ExitCode {
    let options = cli::parse_or_exit(args::USAGE, Options::parse);
    match run(&options) {
        Ok(failures) if failures.is_empty() => {
            println!("nothing is left, nothing has grown");
            ExitCode::SUCCESS
        }
        Ok(failures) => {
            failures.iter().for_each(|failure| eprintln!("soak: {failure}"));
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What was wrong.
fn run(options: &Options) -> io::Result<Vec<String>> {
    limits::allow_descriptors(1024)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(options.procs)
        .thread_keep_alive(look::KEEP_ALIVE)
        .enable_all()
        .build()?;
    let mut soak = Soak { runtime, dice: Dice::new(options.seed), start: Instant::now() };
    println!("seed {}, {} Ps, {} s", options.seed, options.procs, options.duration.as_secs());

    let first_stop = options.until_first_stop();
    let first = match soak.stretch(first_stop)? {
        Stretch::Failed(failures) => return Ok(failures),
        Stretch::AtRest(look) => look,
    };
    match soak.stretch(options.duration - first_stop)? {
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
        let deadline = Instant::now() + Duration::from_secs(1);
        // A thread that has been joined is counted until the kernel has tidied it away.
        while look::threads()? > 1 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
        let threads = look::threads()?;
        Ok((threads > 1).then(|| format!("threads: {threads} when the runtime had ended")))
    }

    /// Prints a line now and then, until `end` or a failure.
    fn watch(&self, world: &World, end: Instant) -> io::Result<()> {
        let mut line = Instant::now() + EVERY;
        while Instant::now() < end && !world.stopping() {
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
