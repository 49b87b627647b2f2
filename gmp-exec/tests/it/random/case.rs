//! One random program on one random runtime.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

use futures::executor;
use gmp_exec::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use gmp_exec::time::sleep;

use super::beside::Beside;
use super::child::Child;
use super::keeper::Keeper;
use super::outsider::outsider;
use super::program::Program;
use super::settings::{Means, crowded, end, random_builder};
use super::tally::Tally;
use crate::fake_netpoll::FakeNetpoll;
use crate::support::{PATIENCE, Random, Watchdog, report};

/// Found wrong are: a wake-up that is lost and a value that is leaked, by the watchdog, since the
/// program does not end; all else by the tally.
pub(super) fn run(seed: u64, tally: &'static Tally) {
    let _told = TellSeed(seed);
    let mut random = Random::new(seed);
    let keeper = Keeper::start(random.next());
    let case = Case::random(&mut random);
    case.run(&keeper, tally, &mut random, seed);
    // Only wakers are left. They outlive their tasks and runtimes.
    keeper.end();
    tally.close();
}

struct Case {
    builder: Builder,
    means: Means,
    /// A crowd of actors and of processors.
    is_crowd: bool,
    /// Whether the runtime ends while actors are under way.
    ends_early: bool,
}

impl Case {
    fn random(random: &mut Random) -> Case {
        let is_crowd = random.below(20) == 0;
        let (builder, means) = if is_crowd { crowded() } else { random_builder(random) };
        Case { builder, means, is_crowd, ends_early: random.below(2) == 0 }
    }

    fn run(mut self, keeper: &Keeper, tally: &'static Tally, random: &mut Random, seed: u64) {
        let runtime = self.builder.build().unwrap();
        let handle = runtime.handle().clone();
        let _watchdog = self.watchdog(seed, tally, &handle);
        let mut program = Program::new(tally, &keeper.requests, self.means, 2);
        let _beside = self.begin_beside(&handle, &mut program, random);
        let actors = if self.is_crowd { 40 } else { 1 + random.below(12) };
        let children: Vec<_> = (0..actors).map(|_| Child::spawn_on(&handle, &program, random)).collect();
        let outsiders: Vec<_> =
            (0..random.below(3)).map(|_| outsider(&handle, &program, Random::new(random.next()))).collect();
        if self.ends_early {
            end_early(runtime, children, &program, random);
        } else {
            children.into_iter().for_each(|child| runtime.block_on(child.join()));
            program.begin_end();
            end(runtime, random);
        }
        outsiders.into_iter().for_each(|outsider| outsider.join().unwrap());
        // The thread that ended a runtime need not have waited for the runtime's threads.
        tally.settle();
    }

    fn begin_beside(&self, handle: &Handle, program: &mut Program, random: &mut Random) -> Vec<Beside> {
        let mut beside = Vec::new();
        if random.below(2) == 0 {
            let netpoll = handle.netpoll(|| Ok(FakeNetpoll::default())).unwrap();
            program.netpoll = Some(netpoll.clone());
            beside.push(Beside::feed(netpoll));
        }
        if random.below(3) == 0 && handle.runtime_flavor() == RuntimeFlavor::MultiThread {
            beside.push(Beside::resize(handle, Random::new(random.next()), self.most_processors(random)));
        }
        beside
    }

    fn most_processors(&self, random: &mut Random) -> u64 {
        match random.below(2) {
            0 => 3,
            _ if self.is_crowd => 80,
            _ => 8,
        }
    }

    fn watchdog(&self, seed: u64, tally: &'static Tally, handle: &Handle) -> Watchdog {
        let (handle, settings) = (handle.clone(), format!("{:?}, crowd: {}", self.means, self.is_crowd));
        Watchdog::start(PATIENCE, move || {
            format!("GMP_FUZZ_SEED={seed}\n{settings}\nleft: {}\n{}", tally.left(), report(&handle))
        })
    }
}

fn end_early(runtime: Runtime, children: Vec<Child>, program: &Program, random: &mut Random) {
    runtime.block_on(async { sleep(Duration::from_micros(random.below(4_000))).await });
    program.begin_end();
    end(runtime, random);
    children.into_iter().for_each(|child| executor::block_on(child.join()));
}

/// Prints the seed if the test fails.
struct TellSeed(u64);

impl Drop for TellSeed {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = writeln!(io::stderr(), "GMP_FUZZ_SEED={}", self.0);
        }
    }
}
