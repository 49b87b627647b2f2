//! The scenarios that are counted. Each warms up, so that the count is that of the steady state.

use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use crate::meeting::{Meeting, Tally};
use crate::stage::Stage;
use crate::{Subject, recorder};

/// A program that is counted.
#[derive(Debug)]
pub struct Scenario<S> {
    pub(super) name: &'static str,
    /// How many runs with different seeds its number is the mean of.
    pub(super) seeds: u64,
    pub(super) run: fn(&Stage<S>),
}

/// The columns of the table.
pub(super) const PROCESSORS: [usize; 3] = [8, 16, 64];

/// As many as there are places in a line where an allocation can begin.
const SEEDS: u64 = 4;
/// For a scenario whose runs take 1 to 13 transfers an operation: the order of the first steps
/// decides whether the woken machines go on looking beside each other.
const MANY_SEEDS: u64 = 256;

/// The rows of the table.
pub(super) fn all<S: Subject>() -> [Scenario<S>; 12] {
    let row = |name, run| Scenario { name, seeds: SEEDS, run };
    [
        row("spawn_await", spawn_await),
        row("spawn_many", spawn_many),
        row("spawn_outside_1", |stage| spawn_outside(stage, 1)),
        row("spawn_outside_64", |stage| spawn_outside(stage, 64)),
        row("wake_machine", wake_machine),
        Scenario { seeds: MANY_SEEDS, ..row("wake_outside", wake_outside) },
        row("steal", steal),
        row("timeout", timeouts),
        row("yield", yields),
        row("closure_1", |stage| closures(stage, 1)),
        row("closure_16", |stage| closures(stage, 16)),
        row("idle", idle),
    ]
}

/// The scenario of that row.
///
/// # Panics
///
/// If there is none.
pub fn scenario<S: Subject>(name: &str) -> Scenario<S> {
    all().into_iter().find(|scenario| scenario.name == name).expect("a row's name")
}

/// The slots of a processor's queue, in gmp and in tokio.
const CAPACITY: usize = 256;

const WARM_UP: usize = 16;

/// Operations of each machine: so many turns (or twice as many) have whole numbers of looks around.
const TURNS: usize = 61;

/// Each machine spawns a task and awaits it.
fn spawn_await<S: Subject>(stage: &Stage<S>) {
    on_all(stage, TURNS, S::spawn_await);
}

/// The same with a timer that is set and then cancelled.
fn timeouts<S: Subject>(stage: &Stage<S>) {
    on_all(stage, TURNS, S::spawn_await_in_time);
}

/// Each machine polls a task that yields.
fn yields<S: Subject>(stage: &Stage<S>) {
    on_all(stage, TURNS, S::yield_now);
}

/// Each machine spawns 16 tasks, and yields until they have run.
fn spawn_many<S: Subject>(stage: &Stage<S>) {
    const BATCH: usize = 16;
    const BATCHES: usize = 4;
    measure_on_all(stage, BATCHES, BATCH, || async {
        let done = Tally::new();
        for _ in 0..BATCH {
            let done = done.clone();
            S::spawn_here(async move {
                done.add();
            });
        }
        while done.get() < BATCH {
            S::yield_now().await;
        }
    });
}

/// All other processors are idle while a machine spawns tasks and awaits them.
fn idle<S: Subject>(stage: &Stage<S>) {
    const OPERATIONS: usize = 500;
    // All machines have run, and go idle.
    stage.on_each(|_, _| async {});
    let (ended, counting) = (Tally::new(), stage.clone());
    let end = ended.clone();
    stage.runtime.spawn(async move {
        for i in 0..2 * OPERATIONS {
            if i == OPERATIONS {
                recorder::begin();
            }
            S::spawn_await().await;
        }
        counting.end_count(OPERATIONS);
        end.add();
    });
    ended.wait_for(1);
}

/// A machine wakes a task that last ran on another machine.
fn wake_machine<S: Subject>(stage: &Stage<S>) {
    const ROUNDS: usize = 200;
    let ball = Ball::new();
    stage.runtime.spawn(ball.clone().catch());
    ball.caught.wait_for(1);
    let turn = Tally::new();
    let counting = stage.clone();
    stage.on_each(|index, meeting| {
        let (ball, turn, counting) = (ball.clone(), turn.clone(), counting.clone());
        async move {
            let members = counting.processors;
            for round in (index..WARM_UP + ROUNDS).step_by(members) {
                turn.wait_for(round);
                if round == WARM_UP {
                    recorder::begin();
                }
                ball.throw();
                while ball.caught.get() < round + 2 {
                    S::yield_now().await;
                }
                if round + 1 == WARM_UP + ROUNDS {
                    counting.end_count(ROUNDS);
                }
                turn.add();
            }
            meeting.meet(|| ());
        }
    });
    ball.end();
}

/// A thread outside wakes a task, while all processors are idle or about to be.
fn wake_outside<S: Subject>(stage: &Stage<S>) {
    const ROUNDS: usize = 200;
    stage.on_each(|_, _| async {});
    let ball = Ball::new();
    stage.runtime.spawn(ball.clone().catch());
    for round in 0..WARM_UP + ROUNDS {
        ball.caught.wait_for(round + 1);
        if round == WARM_UP {
            recorder::begin();
        }
        ball.throw();
    }
    ball.caught.wait_for(WARM_UP + ROUNDS + 1);
    stage.end_count(ROUNDS);
    ball.end();
}

/// A machine spawns tasks and stays in its poll until others have stolen them.
fn steal<S: Subject>(stage: &Stage<S>) {
    const BATCH: usize = 65;
    const BATCHES: usize = 6;
    stage.on_each(|_, _| async {});
    let (ended, counting) = (Tally::new(), stage.clone());
    let end = ended.clone();
    stage.runtime.spawn(async move {
        for batch in 0..2 + BATCHES {
            if batch == 2 {
                recorder::begin();
            }
            let done = Tally::new();
            for _ in 0..BATCH {
                let done = done.clone();
                S::spawn_here(async move {
                    done.add();
                });
            }
            // The last one is in `runnext`.
            done.wait_for(BATCH - 1);
            while done.get() < BATCH {
                S::yield_now().await;
            }
        }
        counting.end_count(BATCH * BATCHES);
        end.add();
    });
    ended.wait_for(1);
}

/// Threads that are no machines spawn tasks.
fn spawn_outside<S: Subject>(stage: &Stage<S>, producers: usize) {
    produce(stage, producers, |stage, done| {
        stage.runtime.spawn(async move {
            done.add();
        });
    });
}

/// Threads that are no machines spawn closures that are over at once.
fn closures<S: Subject>(stage: &Stage<S>, producers: usize) {
    produce(stage, producers, |stage, done| {
        stage.runtime.spawn_closure(move || {
            done.add();
        })
    });
}

/// Calls `operation` on so many threads. It must make the tally grow by one.
fn produce<S: Subject>(stage: &Stage<S>, producers: usize, operation: fn(&Stage<S>, Tally)) {
    const OPERATIONS: usize = 1280;
    const BEFORE: usize = 320;
    stage.on_each(|_, _| async {});
    let done = Tally::new();
    let meeting = Meeting::new(producers + 1);
    let threads: Vec<_> = (0..producers)
        .map(|_| {
            let (stage, done, meeting) = (stage.clone(), done.clone(), meeting.clone());
            shuttle::thread::spawn(move || {
                (0..BEFORE / producers).for_each(|_| operation(&stage, done.clone()));
                meeting.meet(|| ());
                (0..OPERATIONS / producers).for_each(|_| operation(&stage, done.clone()));
            })
        })
        .collect();
    done.wait_for(BEFORE);
    meeting.meet(recorder::begin);
    done.wait_for(BEFORE + OPERATIONS);
    stage.end_count(OPERATIONS);
    for thread in threads {
        thread.join().expect("it does not panic");
    }
}

/// Each machine makes about that many operations.
fn on_all<S: Subject, F>(stage: &Stage<S>, each: usize, operation: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    measure_on_all(stage, each, 1, operation);
}

/// A task of each machine calls `operation`, which is so many operations, about `each` times. None
/// of the tasks waits for the others inside a poll: in tokio a worker may have two of them, and the
/// second one could not go on.
fn measure_on_all<S: Subject, F>(stage: &Stage<S>, each: usize, operations: usize, operation: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let calls = each * stage.processors;
    let (warm, counted) = (Tally::new(), Tally::new());
    stage.on_each(|_, _| {
        let (stage, warm, counted) = (stage.clone(), warm.clone(), counted.clone());
        async move {
            // Once around the ring, whose slots the first thread has made.
            for _ in 0..CAPACITY {
                S::yield_now().await;
            }
            for _ in 0..each.min(WARM_UP) {
                operation().await;
            }
            if warm.add() == stage.processors {
                recorder::begin();
            }
            while warm.get() < stage.processors {
                operation().await;
            }
            while counted.get() < calls {
                operation().await;
                if counted.add() == calls {
                    stage.end_count(calls * operations);
                }
            }
        }
    });
}

/// A task that waits until it is woken, again and again.
#[derive(Clone)]
struct Ball {
    caught: Tally,
    waker: Arc<Mutex<Option<Waker>>>,
    is_over: Tally,
}

impl Ball {
    fn new() -> Ball {
        Ball { caught: Tally::new(), waker: Arc::default(), is_over: Tally::new() }
    }

    async fn catch(self) {
        poll_fn(|cx| {
            if self.is_over.get() > 0 {
                return Poll::Ready(());
            }
            *self.waker.lock().expect("not poisoned") = Some(cx.waker().clone());
            self.caught.add();
            Poll::Pending
        })
        .await;
    }

    fn throw(&self) {
        let waker = self.waker.lock().expect("not poisoned").take();
        waker.expect("the task waits").wake();
    }

    fn end(&self) {
        self.is_over.add();
        self.throw();
    }
}
