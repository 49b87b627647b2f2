//! The scenarios that are counted. Each warms up, so that the count is that of the steady state.

use std::future::{Future, poll_fn};
use std::panic::Location;
use std::sync::Mutex;
use std::task::{Poll, Waker};
use std::time::Duration;

use super::stage::{Meeting, Stage, Tally};
use crate::sched::state::processor::local_queue::CAPACITY;
use crate::sync::Arc;
use crate::sync::lines::recorder;
use crate::task::{AtShutdown, spawn, spawn_blocking_on, yield_now};
use crate::time::timeout;

pub(super) type Scenario = fn(&Stage);

/// As many as there are places in a line where an allocation can begin.
const SEEDS: u64 = 4;
/// For a scenario whose runs take 1 to 13 transfers an operation: the order of the first steps
/// decides whether the woken machines go on looking beside each other.
const MANY_SEEDS: u64 = 256;

/// Each row of the table: its name, how many seeds it is the mean of, and what runs.
pub(super) const ALL: [(&str, u64, Scenario); 12] = [
    ("spawn_await", SEEDS, spawn_await),
    ("spawn_many", SEEDS, spawn_many),
    ("spawn_outside_1", SEEDS, |stage| spawn_outside(stage, 1)),
    ("spawn_outside_64", SEEDS, |stage| spawn_outside(stage, 64)),
    ("wake_machine", SEEDS, wake_machine),
    ("wake_outside", MANY_SEEDS, wake_outside),
    ("steal", SEEDS, steal),
    ("timeout", SEEDS, timeouts),
    ("yield", SEEDS, yields),
    ("closure_1", SEEDS, |stage| closures(stage, 1)),
    ("closure_16", SEEDS, |stage| closures(stage, 16)),
    ("idle", SEEDS, idle),
];

const WARM_UP: usize = 16;

/// Operations of each machine: so many turns (or twice as many) have whole numbers of looks around.
const TURNS: usize = 61;

/// Each machine spawns a task and awaits it.
fn spawn_await(stage: &Stage) {
    on_all(stage, TURNS, || async { spawn(async {}).await.expect("it does not panic") });
}

/// The same with a timer that is set and then cancelled.
fn timeouts(stage: &Stage) {
    on_all(stage, TURNS, || async {
        let child = timeout(Duration::from_secs(3600), spawn(async {})).await;
        child.expect("an hour does not pass").expect("it does not panic");
    });
}

/// Each machine polls a task that yields.
fn yields(stage: &Stage) {
    on_all(stage, TURNS, yield_now);
}

/// Each machine spawns 16 tasks, and yields until they have run.
fn spawn_many(stage: &Stage) {
    const BATCH: usize = 16;
    const BATCHES: usize = 4;
    let operations = BATCH * BATCHES * stage.processors;
    measure_on_all(stage, BATCHES, operations, || async {
        let done = Tally::new();
        for _ in 0..BATCH {
            let done = done.clone();
            drop(spawn(async move { done.add() }));
        }
        while done.get() < BATCH {
            yield_now().await;
        }
    });
}

/// All other processors are idle while a machine spawns tasks and awaits them.
fn idle(stage: &Stage) {
    const OPERATIONS: usize = 500;
    // All machines have run, and go idle.
    stage.on_each(|_, _| async {});
    let (ended, counting) = (Tally::new(), stage.clone());
    let end = ended.clone();
    stage.spawn(async move {
        for i in 0..2 * OPERATIONS {
            if i == OPERATIONS {
                recorder::begin();
            }
            spawn(async {}).await.expect("it does not panic");
        }
        counting.end_count(OPERATIONS);
        end.add();
    });
    ended.wait_for(1);
}

/// A machine wakes a task that last ran on another machine.
fn wake_machine(stage: &Stage) {
    const ROUNDS: usize = 200;
    let ball = Ball::new();
    stage.spawn(ball.clone().catch());
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
                    yield_now().await;
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
fn wake_outside(stage: &Stage) {
    const ROUNDS: usize = 200;
    stage.on_each(|_, _| async {});
    let ball = Ball::new();
    stage.spawn(ball.clone().catch());
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
fn steal(stage: &Stage) {
    const BATCH: usize = 65;
    const BATCHES: usize = 6;
    stage.on_each(|_, _| async {});
    let (ended, counting) = (Tally::new(), stage.clone());
    let end = ended.clone();
    stage.spawn(async move {
        for batch in 0..2 + BATCHES {
            if batch == 2 {
                recorder::begin();
            }
            let done = Tally::new();
            for _ in 0..BATCH {
                let done = done.clone();
                drop(spawn(async move { done.add() }));
            }
            // The last one is in `runnext`.
            done.wait_for(BATCH - 1);
            while done.get() < BATCH {
                yield_now().await;
            }
        }
        counting.end_count(BATCH * BATCHES);
        end.add();
    });
    ended.wait_for(1);
}

/// Threads that are no machines spawn tasks.
fn spawn_outside(stage: &Stage, producers: usize) {
    produce(stage, producers, |stage, done| {
        stage.spawn(async move { done.add() });
    });
}

/// Threads that are no machines spawn closures that are over at once.
fn closures(stage: &Stage, producers: usize) {
    produce(stage, producers, |stage, done| {
        let closure = move || done.add();
        drop(spawn_blocking_on(&stage.handle, AtShutdown::Wait, closure, Location::caller(), None));
    });
}

/// Calls `operation` on so many threads. It must make the tally grow by one.
fn produce(stage: &Stage, producers: usize, operation: fn(&Stage, Tally)) {
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

/// Each machine makes that many operations.
fn on_all<F>(stage: &Stage, each: usize, operation: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    measure_on_all(stage, each, each * stage.processors, operation);
}

fn measure_on_all<F>(stage: &Stage, each: usize, operations: usize, operation: fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let counting = stage.clone();
    stage.on_each(|_, meeting| {
        let counting = counting.clone();
        async move {
            // Once around the ring, whose slots the first thread has made.
            for _ in 0..CAPACITY {
                yield_now().await;
            }
            for _ in 0..each.min(WARM_UP) {
                operation().await;
            }
            meeting.meet(recorder::begin);
            for _ in 0..each {
                operation().await;
            }
            meeting.meet(|| counting.end_count(operations));
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
