//! A limited number of permits: a machine releases one while a task finds none. Every waiting task
//! gets a permit.
//!
//! Seen to fail when a task finds no permit and sets `MUST_LOCK` in two steps. Further faults are
//! named at the models that find them.

use std::panic::Location;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use crate::sched::closures::submit_closure;
use crate::sched::handoff::take::take;
use crate::sched::local::Local;
use crate::sched::run::poll::poll;
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::state::machine::Stuck;
use crate::sched::state::machine::ownership::Region;
use crate::sched::state::permits::{Acquired, Permits};
use crate::sched::state::pool::Pool;
use crate::sched::submit::wake::submit_permitted;
use crate::sched::tests::explore;
use crate::sched::tests::gate::Gate;
use crate::sched::tests::stage::{busy, closure, idle, list_a_sleeper, scheduler, task, watched};
use crate::sched::{closures, hogs};
use crate::sync::{Arc, thread};
use crate::task::{Header, Kind, Place, Runnable, StuckBy, cancel, drop_now, new_task};

/// Runs the tasks in the global queue, and releases the permits that come with them.
pub(super) fn run_queued(scheduler: &Arc<Scheduler>, permits: &Permits) {
    while let Some(task) = scheduler.global.pop(&mut 0, 1, 1, |_| ()) {
        let has_permit = task.metadata().take_permit();
        task.run();
        if has_permit {
            permits.release_to_next().into_iter().for_each(|next| submit_permitted(scheduler, next));
        }
    }
}

/// Two blocking closures and one permit: the closure that finds no permit gets it when the other
/// closure ends.
#[test]
fn loom_permits_closure_ends_against_start() {
    explore(6, || {
        let scheduler = scheduler(2);
        list_a_sleeper(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let machines = [busy(&scheduler), busy(&scheduler)].map(|machine| {
            let ran = ran.clone();
            machine.start(move |local| {
                let body = move || _ = ran.fetch_add(1, Relaxed);
                submit_closure(&local.scheduler, closure(&local.scheduler, Place::Machine, body)).unwrap();
                if let Some(found) = local.enter().held().and_then(|held| held.processor.pop(&held.proof)) {
                    closures::in_place::execute(local, found);
                }
            })
        });
        machines.into_iter().for_each(|machine| machine.join().unwrap());
        run_queued(&scheduler, &scheduler.closures.permits);
        assert_eq!(ran.load(Relaxed), 2);
        assert_eq!((scheduler.closures.permits.held(), scheduler.closures.waiting()), (0, 0));
    });
}

/// Three tasks and one permit: all run, one after the other. Seen to fail when a grant clears
/// `MUST_LOCK` although a task still waits, and when a grant does so before it has counted the permit.
#[test]
fn loom_permits_of_many_users_are_never_exceeded() {
    explore(5, || {
        let scheduler = scheduler(1);
        let permits = Arc::new(Permits::new(1));
        let ran = Arc::new(AtomicUsize::new(0));
        let user = |count: usize| {
            let (scheduler, permits, ran) = (scheduler.clone(), permits.clone(), ran.clone());
            move || {
                for _ in 0..count {
                    let ran = ran.clone();
                    let held = permits.clone();
                    let user = task(&scheduler, move || {
                        assert_eq!(held.held(), 1);
                        ran.fetch_add(1, Relaxed);
                    });
                    use_permit(&permits, user);
                }
            }
        };
        let other = loom::thread::spawn(user(2));
        user(1)();
        other.join().unwrap();
        assert_eq!((ran.load(Relaxed), permits.held(), permits.waiting()), (3, 0, 0));
    });
}

/// The only permit is released while one task begins to wait, and one that perhaps waits is removed
/// because it was aborted. The other one runs. Seen to fail when the removal clears `MUST_LOCK`
/// although a task still waits.
#[test]
fn loom_permits_release_against_removal() {
    explore(5, || {
        let scheduler = scheduler(1);
        let permits = Arc::new(Permits::new(1));
        assert!(permits.try_acquire());
        let header = Header::new(
            SchedulerRef::new(scheduler.clone()).home().clone(),
            Kind::Task(Default::default()),
            Location::caller(),
        );
        let (aborted, handle) = new_task(header, async {});
        let ran = Arc::new(AtomicUsize::new(0));
        let other = loom::thread::spawn({
            let (permits, ran) = (permits.clone(), ran.clone());
            let counts = task(&scheduler, move || _ = ran.fetch_add(1, Relaxed));
            move || {
                use_permit(&permits, aborted);
                use_permit(&permits, counts);
            }
        });
        handle.abort();
        permits.take_aborted().into_iter().for_each(cancel);
        run_all(&permits, permits.release_to_next());
        other.join().unwrap();
        assert_eq!((ran.load(Relaxed), permits.held(), permits.waiting()), (1, 0, 0));
    });
}

/// The limit rises while a task finds no permit: the task runs although no permit is released. Seen
/// to fail when the limit is raised without a look at the waiting tasks.
#[test]
fn loom_permits_higher_limit_against_waiting() {
    explore(5, || {
        let scheduler = scheduler(1);
        let permits = Arc::new(Permits::new(1));
        assert!(permits.try_acquire());
        let ran = Arc::new(AtomicUsize::new(0));
        let other = loom::thread::spawn({
            let (permits, ran) = (permits.clone(), ran.clone());
            let user = task(&scheduler, move || _ = ran.fetch_add(1, Relaxed));
            move || use_permit(&permits, user)
        });
        permits.set_limit(2).into_iter().for_each(|task| run_all(&permits, Some(task)));
        other.join().unwrap();
        assert_eq!((ran.load(Relaxed), permits.held(), permits.waiting()), (1, 1, 0));
    });
}

/// Runs the task if it gets a permit, and those that get the permit after it.
fn use_permit(permits: &Permits, task: Runnable) {
    match permits.acquire(task) {
        Acquired::Granted(task) => run_all(permits, Some(task)),
        Acquired::Queued => {}
        Acquired::Refused(task) => cancel(task),
    }
}

fn run_all(permits: &Permits, mut next: Option<Runnable>) {
    while let Some(task) = next {
        task.run();
        next = permits.release_to_next();
    }
}

/// Polls a known hog that counts its runs.
pub(super) fn hog(ran: &Arc<AtomicUsize>) -> impl FnOnce(&Local) + use<> {
    let ran = ran.clone();
    move |local| {
        let hog = task(&local.scheduler, move || _ = ran.fetch_add(1, Relaxed));
        hogs::execute(local, hog, StuckBy::Computing);
    }
}

/// Two known hogs and one permit: the machine of the first hog goes on with the second.
#[test]
fn loom_permits_hog_ends_against_start() {
    explore(6, || {
        let scheduler = scheduler(2);
        list_a_sleeper(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let machines = [busy(&scheduler), busy(&scheduler)].map(|machine| machine.start(hog(&ran)));
        machines.into_iter().for_each(|machine| machine.join().unwrap());
        assert_eq!(ran.load(Relaxed), 2);
        assert_eq!((scheduler.hogs.held(), scheduler.hogs.close().len()), (0, 0));
    });
}

/// sysmon grants an extra permit while the only permit is released: the waiting task runs once, and
/// every permit is released in the end.
#[test]
fn loom_permits_hog_ends_against_extra_grant() {
    explore(6, || {
        let scheduler = scheduler(2);
        list_a_sleeper(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let machines = [busy(&scheduler), busy(&scheduler)].map(|machine| machine.start(hog(&ran)));
        scheduler.hogs.grant_extra().into_iter().for_each(|task| submit_permitted(&scheduler, task));
        machines.into_iter().for_each(|machine| machine.join().unwrap());
        run_queued(&scheduler, &scheduler.hogs);
        assert_eq!(ran.load(Relaxed), 2);
        assert_eq!((scheduler.hogs.held(), scheduler.hogs.close().len()), (0, 0));
    });
}

/// A taker gives the only permit to a poll that computes, and takes its processor unless the poll ends,
/// while a hog begins to wait. The hog runs, and no permit is left. Seen to fail when the taker counts the
/// permit after it has taken the processor, and when a refused take keeps the permit.
#[test]
fn loom_permits_take_against_waiting() {
    explore(4, || {
        let scheduler = watched(2);
        list_a_sleeper(&scheduler);
        let ran = Arc::new(AtomicUsize::new(0));
        let [stuck, heir] = [busy(&scheduler), idle(&scheduler)];
        let seen = stuck.machine().clone();
        let hog = busy(&scheduler).start(hog(&ran));
        let stuck = stuck.start(|local| {
            let task = task(&local.scheduler, || ());
            poll(local, task, Region::Poll);
        });
        if let Some(sighting) = seen.ownership.look() {
            let stuck_poll =
                Stuck { machine: seen, seen: sighting, cause: StuckBy::Computing, since: std::time::Instant::now() };
            take(&scheduler, &stuck_poll);
        }
        stuck.join().unwrap();
        hog.join().unwrap();
        run_queued(&scheduler, &scheduler.hogs);
        assert_eq!(ran.load(Relaxed), 1);
        assert_eq!((scheduler.hogs.held(), scheduler.hogs.close().len()), (0, 0));
        drop(heir);
    });
}

/// A known hog is aborted while it begins to wait for the only permit, which is never released. Its
/// future is dropped all the same. Seen to fail when `acquire` does not look at the flag under the
/// lock.
#[test]
fn loom_permits_abort_against_waiting() {
    explore(6, || {
        let scheduler = scheduler(1);
        list_a_sleeper(&scheduler);
        assert!(scheduler.hogs.try_acquire());
        let dropped = Arc::new(AtomicUsize::new(0));
        let on_drop = CountDrop(dropped.clone());
        let header = Header::new(
            SchedulerRef::new(scheduler.clone()).home().clone(),
            Kind::Task(Default::default()),
            Location::caller(),
        );
        let (hog, handle) = new_task(header, async move {
            let _on_drop = on_drop;
            std::future::pending::<()>().await
        });
        hog.metadata().mark_hog(StuckBy::Computing);
        let machine = busy(&scheduler).start(move |local| hogs::execute(local, hog, StuckBy::Computing));
        handle.abort();
        machine.join().unwrap();
        run_queued(&scheduler, &scheduler.hogs);
        assert_eq!(dropped.load(Relaxed), 1);
        assert_eq!((scheduler.hogs.held(), scheduler.hogs.close().len()), (1, 0));
    });
}

struct CountDrop(Arc<AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A second closure is submitted while the only thread of the pool begins to wait. No other thread
/// can be started. Both closures run.
///
/// Seen to fail when the thread unlocks between its look at the queue and the count as idle, and when
/// a submitter counts on a thread that sleeps and does not wake it.
#[test]
fn loom_permits_pool_thread_waits_against_submit() {
    explore(6, || {
        let scheduler = scheduler(1);
        let gates = [Gate::default(), Gate::default()];
        let [first, second] = gates.clone().map(|gate| closure(&scheduler, Place::Pool, move || gate.open()));
        let pool = Arc::new(Pool::default());
        assert!(pool.submit(first).unwrap(), "the pool has no thread yet");
        let serving = serve(&pool);
        submit_without_threads(&pool, second);
        gates.iter().for_each(Gate::wait);
        assert!(pool.close().is_empty());
        serving.join().unwrap();
        assert_eq!((pool.threads(), pool.idle()), (0, 0));
    });
}

/// Two threads of the pool wait or are about to, and a third thread submits two closures. Both run.
/// Seen to fail when a submitter counts only on the thread that looks once more before it sleeps.
#[test]
fn loom_permits_pool_threads_wait_against_submit() {
    explore(3, || {
        let scheduler = scheduler(1);
        let pool = Arc::new(Pool::default());
        let gates = [(); 4].map(|()| Gate::default());
        let [first, second, third, fourth] =
            gates.clone().map(|gate| closure(&scheduler, Place::Pool, move || gate.open()));
        assert!(pool.submit(first).unwrap() && pool.submit(second).unwrap());
        let serving = [serve(&pool), serve(&pool)];
        [third, fourth].into_iter().for_each(|closure| submit_without_threads(&pool, closure));
        gates.iter().for_each(Gate::wait);
        assert!(pool.close().is_empty());
        serving.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!((pool.threads(), pool.idle()), (0, 0));
    });
}

fn serve(pool: &Arc<Pool>) -> thread::JoinHandle<()> {
    let pool = pool.clone();
    let serving = thread::Builder::new().spawn(move || {
        pool.started();
        while let Some(closure) = pool.next(Duration::MAX) {
            closure.run();
        }
    });
    serving.unwrap()
}

/// The pool has a thread, and no other can be started.
fn submit_without_threads(pool: &Pool, closure: Runnable) {
    if pool.submit(closure).unwrap() {
        assert!(pool.not_started().is_empty(), "the pool's thread has not ended");
    }
}

/// Two threads submit a closure to an empty pool, and neither should start a thread, nor can. No
/// closure is left behind for the other's thread.
#[test]
fn loom_permits_pool_without_threads() {
    explore(6, || {
        let scheduler = scheduler(1);
        let pool = Arc::new(Pool::default());
        let submit = |pool: &Pool, closure| {
            assert!(pool.submit(closure).unwrap(), "the pool has no thread");
            if pool.leave_to_others() {
                return 0;
            }
            pool.not_started().into_iter().map(drop_now).count()
        };
        let [first, second] = [(); 2].map(|()| closure(&scheduler, Place::Pool, || ()));
        let other = thread::Builder::new().spawn({
            let pool = pool.clone();
            move || submit(&pool, first)
        });
        let given_up = submit(&pool, second) + other.unwrap().join().unwrap();
        assert_eq!((given_up, pool.threads()), (2, 0));
    });
}
