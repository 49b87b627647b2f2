//! Random programs on runtimes with random settings, which often end in the middle of the program.
//! Whatever the limits are, nothing hangs, and every handle reports the end of its task.
//!
//! The programs wait for each other by blocking their thread only where the settings leave threads
//! for that. Runs as long as `GMP_FUZZ_SECS` says, three seconds by default. On failure the seed of
//! the run is printed; with `GMP_FUZZ_SEED` it is run again and again.

use std::future::pending;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor;
use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::task::{
    JoinError, JoinHandle, JoinSet, block_in_place, blocking, spawn_blocking, spawn_blocking_in_place, yield_now,
};
use gmp_exec::time::{sleep, timeout};

use crate::support::{PATIENCE, Random, Watchdog, alone, compute_for, current, multi, report};

#[test]
fn no_configuration_hangs_or_loses_a_task() {
    let _alone = alone();
    let seconds = variable("GMP_FUZZ_SECS").unwrap_or(3);
    let given = variable("GMP_FUZZ_SEED");
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        run_one(given.unwrap_or_else(Random::fresh_seed));
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn run_one(seed: u64) {
    let _told = TellSeed(seed);
    let mut random = Random::new(seed);
    let (runtime, means) = random_runtime(&mut random);
    let handle = runtime.handle().clone();
    let settings = format!("{means:?}");
    let _watchdog = Watchdog::start(PATIENCE, move || format!("GMP_FUZZ_SEED={seed}\n{settings}\n{}", report(&handle)));
    let program = Program { alive: Arc::default(), means, depth: 2 };
    let tasks = (0..1 + random.below(12)).map(|_| runtime.spawn(act(Actor::new(&program, &mut random))));
    let tasks: Vec<_> = tasks.collect();
    let outsiders = (0..random.below(3)).map(|_| outsider(runtime.handle(), &program, Random::new(random.next())));
    let outsiders: Vec<_> = outsiders.collect();
    if random.below(2) == 0 {
        runtime.block_on(async { sleep(Duration::from_micros(random.below(3_000))).await });
        end(runtime, &mut random);
        tasks.into_iter().for_each(|task| check(executor::block_on(task)));
    } else {
        tasks.into_iter().for_each(|task| runtime.block_on(task).expect("no handle aborts it"));
        end(runtime, &mut random);
    }
    outsiders.into_iter().for_each(|outsider| outsider.join().unwrap());
    // The thread that ended the runtime need not have waited for the runtime's threads.
    while program.alive.load(SeqCst) > 0 {
        thread::yield_now();
    }
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

/// A task ends or is aborted, but never panics.
fn check(result: Result<(), JoinError>) {
    if let Err(error) = result {
        assert!(error.is_cancelled(), "an actor panicked: {error}");
    }
}

/// The operations that a program may use on its runtime without a deadlock.
#[derive(Clone, Copy, Debug)]
struct Means {
    /// Whether a task can hand off its processor in a section.
    has_block_in_place: bool,
    /// Whether there are enough threads for all tasks that wait for another task in a section.
    may_wait_in_sections: bool,
    /// The same for closures.
    may_wait_in_closures: bool,
    /// The same for polls, from which only sysmon takes the processor.
    may_wait_in_polls: bool,
}

fn random_runtime(random: &mut Random) -> (Runtime, Means) {
    let is_multi = random.below(6) > 0;
    let (has_sysmon, is_roomy) = (random.below(4) > 0, random.below(2) == 0);
    let mut builder = if is_multi { multi(1 + random.below(3) as usize) } else { current() };
    builder
        .max_machines(if is_roomy { 1_000 } else { 1 + random.below(4) as usize })
        .max_hogs(1 + random.below(3) as usize)
        .max_blocking_threads(1 + random.below(3) as usize)
        .blocking_threshold(Duration::from_micros(100 + random.below(901)))
        .thread_keep_alive(Duration::from_micros(random.below(3_001)))
        .sysmon(has_sysmon);
    let means = Means {
        has_block_in_place: is_multi,
        may_wait_in_sections: is_multi && is_roomy,
        may_wait_in_closures: is_roomy || !is_multi,
        may_wait_in_polls: is_multi && is_roomy && has_sysmon,
    };
    (builder.build().unwrap(), means)
}

fn end(runtime: Runtime, random: &mut Random) {
    match random.below(4) {
        0 | 1 => drop(runtime),
        2 => runtime.shutdown_timeout(Duration::from_micros(random.below(2_000))),
        _ => runtime.shutdown_background(),
    }
}

/// A thread outside of the runtime that uses it, even after its end.
fn outsider(handle: &Handle, program: &Program, mut random: Random) -> thread::JoinHandle<()> {
    let (handle, program) = (handle.clone(), program.clone());
    thread::spawn(move || {
        let mut tasks: Vec<JoinHandle<()>> = Vec::new();
        for _ in 0..random.below(12) {
            let duration = Duration::from_micros(random.below(200));
            match random.below(5) {
                0 => thread::sleep(duration),
                1 => tasks.iter().for_each(JoinHandle::abort),
                2 => tasks.push(handle.spawn_blocking(move || thread::sleep(duration))),
                3 => check(handle.block_on(handle.spawn(act(Actor::new(&program.leaf(), &mut random))))),
                _ => tasks.push(handle.spawn(act(Actor::new(&program, &mut random)))),
            }
        }
        tasks.into_iter().for_each(|task| check(handle.block_on(task)));
    })
}

/// The state that all tasks of a run share, and the limits for their children.
#[derive(Clone)]
struct Program {
    /// Actors whose future exists.
    alive: Arc<AtomicUsize>,
    means: Means,
    /// How many generations may follow.
    depth: u32,
}

impl Program {
    /// For tasks for which another task blocks a thread: they don't block one themselves, and need
    /// no closure.
    fn leaf(&self) -> Program {
        Program { depth: 0, ..self.clone() }
    }
}

/// A task that executes random operations.
struct Actor {
    program: Program,
    random: Random,
}

impl Actor {
    fn new(program: &Program, random: &mut Random) -> Actor {
        program.alive.fetch_add(1, SeqCst);
        Actor { program: program.clone(), random: Random::new(random.next()) }
    }

    fn child(&mut self) -> Actor {
        let program = Program { depth: self.program.depth - 1, ..self.program.clone() };
        Actor::new(&program, &mut self.random)
    }

    fn leaf(&mut self) -> Actor {
        Actor::new(&self.program.leaf(), &mut self.random)
    }

    fn micros(&mut self, limit: u64) -> Duration {
        Duration::from_micros(self.random.below(limit))
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.program.alive.fetch_sub(1, SeqCst);
    }
}

fn act(mut actor: Actor) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        for _ in 0..1 + actor.random.below(8) {
            step(&mut actor).await;
        }
    })
}

async fn step(actor: &mut Actor) {
    match actor.random.below(if actor.program.depth > 0 { 17 } else { 8 }) {
        0 | 1 => yield_now().await,
        2 => sleep(actor.micros(600)).await,
        3 => drop(timeout(actor.micros(300), pending::<()>()).await),
        4 => compute_for(actor.micros(1_500)),
        5 => thread::sleep(actor.micros(1_500)),
        6 => section(actor),
        7 => compute_in_sections(actor),
        8 | 9 => closure(actor).await,
        10 => check(gmp_exec::spawn(act(actor.child())).await),
        11 => drop(gmp_exec::spawn(act(actor.child()))),
        12 => abort_one(actor).await,
        13 => set(actor).await,
        14 => channel(actor).await,
        15 => wait_by_blocking(actor),
        _ => wait_in_closure(actor).await,
    }
}

fn section(actor: &mut Actor) {
    let duration = actor.micros(1_000);
    if actor.program.means.has_block_in_place && actor.random.below(2) == 0 {
        block_in_place(|| thread::sleep(duration))
    } else {
        blocking(|| thread::sleep(duration))
    }
}

fn compute_in_sections(actor: &mut Actor) {
    for _ in 0..actor.random.below(20) {
        compute_for(Duration::from_micros(50));
        blocking(|| ());
    }
}

async fn closure(actor: &mut Actor) {
    let duration = actor.micros(800);
    let closure = match actor.random.below(2) {
        0 => spawn_blocking(move || thread::sleep(duration)),
        _ => spawn_blocking_in_place(move || thread::sleep(duration)),
    };
    match actor.random.below(4) {
        0 => closure.abort(),
        1 => return drop(closure),
        _ => {}
    }
    check(closure.await);
}

async fn abort_one(actor: &mut Actor) {
    let child = gmp_exec::spawn(act(actor.child()));
    if actor.random.below(2) == 0 {
        sleep(actor.micros(500)).await;
    }
    let abort = child.abort_handle();
    child.abort();
    check(child.await);
    assert!(abort.is_finished());
}

async fn set(actor: &mut Actor) {
    let mut set = JoinSet::new();
    let count = 1 + actor.random.below(4);
    for _ in 0..count {
        set.spawn(act(actor.child()));
    }
    for _ in 0..actor.random.below(count + 1) {
        check(set.join_next().await.expect("there are more"));
    }
    match actor.random.below(4) {
        0 => return drop(set),
        1 => set.shutdown().await,
        2 => set.abort_all(),
        _ => {}
    }
    while let Some(result) = set.join_next().await {
        check(result);
    }
    assert!(set.is_empty());
}

/// Sends numbers to a child. Either of them may be cancelled before the end.
async fn channel(actor: &mut Actor) {
    let (sender, mut receiver) = tokio::sync::mpsc::channel(1 + actor.random.below(4) as usize);
    let mut child = actor.child();
    let child = gmp_exec::spawn(async move {
        let mut next = 0;
        while let Some(number) = receiver.recv().await {
            assert_eq!(number, next, "in order");
            next += 1;
            if number % 8 == 0 {
                act(child.leaf()).await;
            }
        }
    });
    for number in 0..actor.random.below(40) {
        if sender.send(number).await.is_err() {
            break;
        }
    }
    drop(sender);
    check(child.await);
}

/// Blocks the thread until a child has ended: in a declared section, or in the middle of the poll.
fn wait_by_blocking(actor: &mut Actor) {
    let means = actor.program.means;
    match actor.random.below(3) {
        0 if means.may_wait_in_sections => block_in_place(|| wait_for_leaf(actor)),
        1 if means.may_wait_in_sections => {
            block_in_place(|| check(Handle::current().block_on(gmp_exec::spawn(act(actor.leaf())))));
        }
        2 if means.may_wait_in_polls => wait_for_leaf(actor),
        _ => {}
    }
}

/// The sender may be dropped unused, when the runtime ends.
fn wait_for_leaf(actor: &mut Actor) {
    let (sender, receiver) = mpsc::channel();
    let leaf = actor.leaf();
    gmp_exec::spawn(async move {
        act(leaf).await;
        let _ = sender.send(());
    });
    let _ = receiver.recv();
}

async fn wait_in_closure(actor: &mut Actor) {
    if !actor.program.means.may_wait_in_closures {
        return;
    }
    let leaf = actor.leaf();
    let closure = spawn_blocking(move || {
        let handle = Handle::current();
        check(handle.block_on(handle.spawn(act(leaf))));
    });
    check(closure.await);
}
