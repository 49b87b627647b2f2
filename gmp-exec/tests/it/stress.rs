//! Random operations of all kinds at once: no task may be lost or run twice, and every future must
//! be dropped.
//!
//! Far more processors than cores and a threshold of 0.2 ms, so that processors are taken all the
//! time. A run takes a few seconds, or `GMP_STRESS_SECS` seconds. On failure the seed of the round
//! is printed; `GMP_STRESS_SEED` sets it for the first round.

use std::future::pending;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use futures::executor;
use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::task::{JoinHandle, block_in_place, blocking, spawn_blocking, yield_now};
use gmp_exec::time::{sleep, timeout};

use crate::fake_netpoll::FakeNetpoll;
use crate::support::{Flag, PATIENCE, Random, alone, compute_for, current, multi, report};

#[test]
fn no_task_is_lost_on_64_processors() {
    let _alone = alone();
    rounds_on_64_processors(|_, _| ());
}

/// A random number of processors every millisecond, also more than at the beginning.
#[test]
fn no_task_is_lost_while_the_number_of_processors_changes() {
    let _alone = alone();
    rounds_on_64_processors(|runtime, seed| Resizer::start(runtime, seed, 80));
    rounds_on_64_processors(|runtime, seed| Resizer::start(runtime, seed, 3));
}

/// `beside` makes something that exists while the actors do.
fn rounds_on_64_processors<T>(beside: impl Fn(&Runtime, u64) -> T) {
    let (end, mut seed) = (Instant::now() + length(), first_seed());
    while Instant::now() < end {
        let round = Round::new(seed);
        let runtime = multi(64).blocking_threshold(Duration::from_micros(200)).build().unwrap();
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        round.watch(&runtime);
        let actors: Vec<_> = (0..100).map(|i| runtime.spawn(act(round.actor(seed + i, Some(&netpoll))))).collect();
        let feeder = feed(netpoll);
        let _beside = beside(&runtime, seed);
        for actor in actors {
            runtime.block_on(actor).unwrap();
        }
        // Detached tasks may still be waiting for messages.
        round.wait_until_all_are_dropped();
        feeder.stop();
        drop(runtime);
        seed += 1_000;
    }
}

#[test]
fn runtimes_end_at_any_moment_without_losing_or_leaking_anything() {
    let _alone = alone();
    let (end, mut seed) = (Instant::now() + length(), first_seed());
    let mut rounds = 0;
    while Instant::now() < end || rounds < 100 {
        let round = Round::new(seed);
        round.live_and_die();
        seed += 1_000;
        rounds += 1;
    }
}

fn length() -> Duration {
    let seconds = std::env::var("GMP_STRESS_SECS").map_or(3, |text| text.parse().expect("GMP_STRESS_SECS is a number"));
    Duration::from_secs(seconds)
}

fn first_seed() -> u64 {
    let given = std::env::var("GMP_STRESS_SEED").ok();
    given.map_or_else(Random::fresh_seed, |text| text.parse().expect("GMP_STRESS_SEED is a number")) >> 1
}

/// One runtime and its counters.
struct Round {
    seed: u64,
    counts: Arc<Counts>,
    _watchdog: Watchdog,
}

#[derive(Default)]
struct Counts {
    /// Actors whose future exists.
    alive: AtomicU64,
    /// The number of operations so far.
    progress: AtomicU64,
    runtime: Mutex<Option<Handle>>,
}

impl Round {
    fn new(seed: u64) -> Round {
        let counts = Arc::new(Counts::default());
        Round { seed, _watchdog: Watchdog::new(seed, counts.clone()), counts }
    }

    fn watch(&self, runtime: &Runtime) {
        *self.counts.runtime.lock().unwrap() = Some(runtime.handle().clone());
    }

    fn actor(&self, seed: u64, netpoll: Option<&Arc<FakeNetpoll>>) -> Actor {
        Actor::new(seed, 3, self.counts.clone(), netpoll.cloned())
    }

    fn wait_until_all_are_dropped(&self) {
        // Detached tasks must still end; otherwise the watchdog ends the process.
        while self.counts.alive.load(SeqCst) > 0 {
            thread::yield_now();
        }
    }

    /// A runtime with random settings, used from inside and from outside, is shut down in a random
    /// way at a random moment.
    fn live_and_die(&self) {
        let mut random = Random::new(self.seed);
        let runtime = random_runtime(&mut random);
        self.watch(&runtime);
        let netpoll = (random.below(2) == 0).then(|| {
            let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
            (netpoll.clone(), feed(netpoll))
        });
        let source = netpoll.as_ref().map(|(netpoll, _)| netpoll);
        let resizer = (random.below(3) == 0).then(|| Resizer::start(&runtime, self.seed, 8));
        let mut tasks: Vec<_> =
            (0..random.below(40)).map(|i| runtime.spawn(act(self.actor(self.seed + i, source)))).collect();
        let outsiders: Vec<_> = (0..random.below(3)).map(|i| self.outsider(&runtime, i)).collect();
        match random.below(3) {
            0 => {}
            1 => compute_for(Duration::from_micros(random.below(3_000))),
            _ => runtime.block_on(async { sleep(Duration::from_micros(random.below(3_000))).await }),
        }
        end(runtime, &mut random);
        drop(resizer);
        outsiders.into_iter().for_each(|outsider| tasks.extend(outsider.join().unwrap()));
        for task in tasks {
            if let Err(error) = executor::block_on(task) {
                assert!(error.is_cancelled(), "an actor panicked: {error}");
            }
        }
        netpoll.into_iter().for_each(|(_, feeder)| feeder.stop());
        self.wait_until_all_are_dropped();
    }

    /// A thread outside of the runtime that uses it, even after its end.
    fn outsider(&self, runtime: &Runtime, number: u64) -> thread::JoinHandle<Vec<JoinHandle<()>>> {
        let (handle, seed, counts) = (runtime.handle().clone(), self.seed + 500 + number * 50, self.counts.clone());
        thread::spawn(move || {
            let mut random = Random::new(seed);
            let mut tasks: Vec<JoinHandle<()>> = Vec::new();
            for i in 0..random.below(30) {
                match random.below(5) {
                    0 => compute_for(Duration::from_micros(random.below(100))),
                    1 => tasks.iter().for_each(|task| task.abort_handle().abort()),
                    2 => tasks.push(handle.spawn_blocking(|| ())),
                    3 => drop(handle.block_on(handle.spawn(async {}))),
                    _ => tasks.push(handle.spawn(act(Actor::new(seed + i, 1, counts.clone(), None)))),
                }
            }
            tasks
        })
    }
}

fn random_runtime(random: &mut Random) -> Runtime {
    let processors = [1, 2, 4, 64][random.below(4) as usize];
    let mut builder = if random.below(8) == 0 { current() } else { multi(processors) };
    builder.blocking_threshold(Duration::from_micros(200)).sysmon(random.below(8) > 0);
    builder.thread_keep_alive(Duration::from_micros(random.below(2_000)));
    if random.below(4) == 0 {
        builder.max_hogs(1 + random.below(3) as usize);
    }
    if random.below(4) == 0 {
        builder.max_blocking_threads(1 + random.below(3) as usize);
    }
    builder.build().unwrap()
}

/// A thread that changes the number of processors every millisecond, until it is dropped.
struct Resizer {
    end: Flag,
    thread: Option<thread::JoinHandle<()>>,
}

impl Resizer {
    fn start(runtime: &Runtime, seed: u64, most: u64) -> Resizer {
        let (handle, end, mut random) = (runtime.handle().clone(), Flag::new(), Random::new(seed + 999));
        let is_over = end.clone();
        let thread = thread::spawn(move || {
            while !is_over.wait_for(Duration::from_millis(1)) {
                let is_single = handle.runtime_flavor() == gmp_exec::runtime::RuntimeFlavor::CurrentThread;
                let count = if is_single { 1 } else { 1 + random.below(most) as usize };
                handle.set_max_procs(count).unwrap();
            }
        });
        Resizer { end, thread: Some(thread) }
    }
}

impl Drop for Resizer {
    fn drop(&mut self) {
        self.end.set();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn end(runtime: Runtime, random: &mut Random) {
    match random.below(4) {
        0 | 1 => drop(runtime),
        2 => runtime.shutdown_timeout(Duration::from_micros(random.below(2_000))),
        _ => runtime.shutdown_background(),
    }
}

/// A task that executes random operations, some of them together with other tasks.
struct Actor {
    random: Random,
    /// How many generations may follow.
    depth: u64,
    counts: Arc<Counts>,
    netpoll: Option<Arc<FakeNetpoll>>,
}

impl Actor {
    fn new(seed: u64, depth: u64, counts: Arc<Counts>, netpoll: Option<Arc<FakeNetpoll>>) -> Actor {
        counts.alive.fetch_add(1, SeqCst);
        Actor { random: Random::new(seed), depth, counts, netpoll }
    }

    fn child(&mut self) -> Actor {
        Actor::new(self.random.next(), self.depth - 1, self.counts.clone(), self.netpoll.clone())
    }

    fn micros(&mut self, limit: u64) -> Duration {
        Duration::from_micros(self.random.below(limit))
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.counts.alive.fetch_sub(1, SeqCst);
        self.counts.progress.fetch_add(1, SeqCst);
    }
}

fn act(mut actor: Actor) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        for _ in 0..1 + actor.random.below(6) {
            step(&mut actor).await;
            actor.counts.progress.fetch_add(1, SeqCst);
        }
    })
}

async fn step(actor: &mut Actor) {
    match actor.random.below(if actor.depth > 0 { 18 } else { 9 }) {
        0 | 1 => yield_now().await,
        2 => sleep(actor.micros(400)).await,
        3 => drop(timeout(actor.micros(300), pending::<()>()).await),
        4 => compute_for(actor.micros(500)),
        5 => thread::sleep(actor.micros(500)),
        6 => section(actor.micros(500), actor.random.below(2) == 0),
        7 => wait_for_readiness(actor).await,
        8 => ping_pong(1 + actor.random.below(50)).await,
        9 => closure(actor).await,
        10 => join(vec![gmp_exec::spawn(act(actor.child()))]).await,
        11 => drop(gmp_exec::spawn(act(actor.child()))),
        12 => abort_one(actor).await,
        13 => join((0..3).map(|_| gmp_exec::spawn(act(actor.child()))).collect()).await,
        14 => burst(actor.random.below(400)).await,
        15 => block_on_inside(actor),
        16 => cross_over(actor).await,
        _ => assert!(gmp_exec::spawn(async { panic_silently() }).await.is_err()),
    }
}

fn panic_silently() {
    std::panic::resume_unwind(Box::new("on purpose"));
}

/// A task that another task joins is cancelled only if the runtime ends. Then the joining task is
/// cancelled, too.
async fn join(tasks: Vec<JoinHandle<()>>) {
    for task in tasks {
        match task.await {
            Ok(()) => {}
            Err(error) if error.is_cancelled() => {}
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

fn is_current_thread() -> bool {
    Handle::current().runtime_flavor() == gmp_exec::runtime::RuntimeFlavor::CurrentThread
}

fn section(duration: Duration, at_once: bool) {
    if at_once && !is_current_thread() {
        block_in_place(|| thread::sleep(duration))
    } else {
        blocking(|| thread::sleep(duration))
    }
}

async fn wait_for_readiness(actor: &Actor) {
    if let Some(netpoll) = &actor.netpoll {
        netpoll.wait().await;
    }
}

async fn ping_pong(turns: u64) {
    let (send_there, mut receive_there) = tokio::sync::mpsc::channel(1);
    let (send_back, mut receive_back) = tokio::sync::mpsc::channel(1);
    let partner = gmp_exec::spawn(async move {
        while let Some(turn) = receive_there.recv().await {
            if send_back.send(turn).await.is_err() {
                return;
            }
        }
    });
    for turn in 0..turns {
        if send_there.send(turn).await.is_err() || receive_back.recv().await != Some(turn) {
            // The partner was cancelled, and this task is about to be.
            assert!(partner.await.is_err());
            return;
        }
    }
    drop(send_there);
    join(vec![partner]).await;
}

async fn closure(actor: &mut Actor) {
    let (duration, child) = (actor.micros(300), actor.child());
    let run_in_closure = actor.random.below(4) == 0;
    let closure = spawn_blocking(move || {
        thread::sleep(duration);
        if run_in_closure {
            executor::block_on(join(vec![Handle::current().spawn(act(child))]))
        }
    });
    if actor.random.below(4) == 0 {
        closure.abort();
    }
    join(vec![closure]).await;
}

async fn abort_one(actor: &mut Actor) {
    let child = gmp_exec::spawn(act(actor.child()));
    if actor.random.below(2) == 0 {
        sleep(actor.micros(300)).await;
    }
    let abort = child.abort_handle();
    if actor.random.below(2) == 0 {
        abort.abort()
    } else {
        child.abort()
    }
    join(vec![child]).await;
    assert!(abort.is_finished());
}

/// More tasks than a local queue holds.
async fn burst(count: u64) {
    let done = Arc::new(AtomicU64::new(0));
    let tasks = (0..count).map(|_| {
        let done = done.clone();
        gmp_exec::spawn(async move { _ = done.fetch_add(1, SeqCst) })
    });
    let mut finished = 0;
    for task in tasks.collect::<Vec<_>>() {
        finished += u64::from(task.await.is_ok());
    }
    assert_eq!(done.load(SeqCst), finished, "each task runs once");
}

fn block_on_inside(actor: &mut Actor) {
    if is_current_thread() {
        return;
    }
    let child = actor.child();
    block_in_place(|| executor::block_on(join(vec![gmp_exec::spawn(act(child))])));
}

/// Two tasks wait for each other and yield all the time: neither may prevent the other one from
/// running.
async fn cross_over(actor: &mut Actor) {
    let (here, there) = (Flag::new(), Flag::new());
    let other = {
        let (here, there) = (here.clone(), there.clone());
        gmp_exec::spawn(async move {
            there.set();
            while !here.is_set() {
                yield_now().await;
            }
        })
    };
    here.set();
    while !there.is_set() && !other.is_finished() {
        yield_now().await;
    }
    actor.counts.progress.fetch_add(1, SeqCst);
    join(vec![other]).await;
}

/// Makes the netpoll's tasks ready until it is stopped.
struct Feeder {
    stop: Flag,
    thread: thread::JoinHandle<()>,
}

fn feed(netpoll: Arc<FakeNetpoll>) -> Feeder {
    let stop = Flag::new();
    let is_stopped = stop.clone();
    let thread = thread::spawn(move || {
        while !is_stopped.is_set() {
            if netpoll.waiting() > 0 {
                netpoll.make_ready();
            }
            thread::sleep(Duration::from_micros(50));
        }
    });
    Feeder { stop, thread }
}

impl Feeder {
    fn stop(self) {
        self.stop.set();
        self.thread.join().unwrap();
    }
}

/// Ends the process with a report if nothing happens for a while, and prints the seed if the test
/// fails.
struct Watchdog {
    seed: u64,
    stop: Flag,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watchdog {
    fn new(seed: u64, counts: Arc<Counts>) -> Watchdog {
        let stop = Flag::new();
        let is_stopped = stop.clone();
        let thread = thread::spawn(move || watch(seed, &counts, &is_stopped));
        Watchdog { seed, stop, thread: Some(thread) }
    }
}

fn watch(seed: u64, counts: &Counts, stop: &Flag) {
    let (mut seen, mut since) = (0, Instant::now());
    while !stop.wait_for(Duration::from_millis(500)) {
        let now = counts.progress.load(SeqCst);
        if now != seen {
            (seen, since) = (now, Instant::now());
        } else if since.elapsed() > PATIENCE {
            let alive = counts.alive.load(SeqCst);
            let metrics = counts.runtime.lock().unwrap().as_ref().map(report).unwrap_or_default();
            let _ = writeln!(io::stderr(), "no progress for {PATIENCE:?}; {alive} actors; seed {seed}\n{metrics}");
            std::process::abort();
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = writeln!(io::stderr(), "GMP_STRESS_SEED={}", self.seed << 1);
        }
        self.stop.set();
        let _ = self.thread.take().map(thread::JoinHandle::join);
    }
}
