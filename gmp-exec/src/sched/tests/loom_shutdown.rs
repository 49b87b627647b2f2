//! The end of a runtime against threads that bring a task or a netpoll at that moment: one of the
//! two sides cancels the task, or shuts the netpoll down.
//!
//! Closures are left to shuttle (`shuttle_blocking`): their threads let go of the scheduler at the
//! end by an `Arc` that loom can't see.

use std::io;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use loom::thread;

use crate::netpoll::Netpoll;
use crate::runtime::Handle;
use crate::sched::config::{Config, Flavor};
use crate::sched::local::Local;
use crate::sched::resize::set_max_procs;
use crate::sched::scheduler::{Scheduler, SchedulerRef};
use crate::sched::shutdown::last_poll::Outside;
use crate::sched::shutdown::{self, last_poll};
use crate::sched::state::all_machines::{AllMachines, await_again};
use crate::sched::state::machine::Machine;
use crate::sched::submit::wake::submit_global;
use crate::sched::tests::explore;
use crate::sched::tests::gate::Gate;
use crate::sched::tests::stage::{Actor, busy, config, scheduler, task, without_processor};
use crate::sync::{Arc, Mutex};
use crate::task::cancel;

/// Counts its drops.
struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Tasks are pushed while the global queue is open, closing, or closed: each is cancelled once, and
/// none stays behind.
#[test]
fn loom_shutdown_cancels_what_is_pushed_during_it() {
    explore(6, || {
        let scheduler = scheduler(1);
        // So that no machine comes for the queued tasks.
        let _holds_the_processor = busy(&scheduler);
        let dropped = Arc::new(AtomicUsize::new(0));
        let pusher = thread::spawn({
            let (scheduler, dropped) = (scheduler.clone(), dropped.clone());
            move || {
                for _ in 0..2 {
                    let future = Dropped(dropped.clone());
                    submit_global(&scheduler, [task(&scheduler, move || unreachable!("{:p}", &future))]);
                }
            }
        });
        shutdown::begin(&scheduler);
        pusher.join().unwrap();
        assert_eq!(dropped.load(Relaxed), 2);
    });
}

#[derive(Clone, Default)]
struct Probe(Arc<AtomicUsize>);

impl Netpoll for Probe {
    fn poll(&self, _: Option<Duration>) -> io::Result<()> {
        Ok(())
    }

    fn wake(&self) {}

    fn shutdown(&self) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// A scheduler with a netpoll that counts how often it was shut down.
fn with_probe(processors: usize) -> (Arc<Scheduler>, Probe) {
    let scheduler = Scheduler::new(Config { enable_io: true, ..config(processors, Flavor::MultiThread) });
    let probe = Probe::default();
    let _ = Handle::of(SchedulerRef::new(scheduler.clone())).netpoll(|| Ok(probe.clone())).unwrap();
    (scheduler, probe)
}

/// Starts a machine that is inside a poll, runs `rest` there, and leaves.
fn in_last_poll(
    scheduler: &Arc<Scheduler>,
    actor: Actor,
    rest: impl FnOnce(&Local) + 'static,
) -> thread::JoinHandle<()> {
    let membership = scheduler.all_machines.enter(actor.machine());
    actor.machine().may_poll.store(true, Relaxed);
    actor.start(move |local| {
        rest(local);
        shutdown::leave(local);
        let _ = last_poll::step_out(local);
        drop(membership);
    })
}

/// Two machines are inside polls, one with a processor and one whose processor was taken: the
/// network ends once, after both polls.
#[test]
fn loom_shutdown_ends_the_network_after_the_last_poll() {
    explore(4, || {
        let (scheduler, probe) = with_probe(1);
        let has_ended = probe.clone();
        let expect_network = move |_: &Local| assert_eq!(has_ended.0.load(Relaxed), 0, "it ends after the poll");
        let machines = [
            in_last_poll(&scheduler, busy(&scheduler), expect_network.clone()),
            in_last_poll(&scheduler, without_processor(&scheduler), expect_network),
        ];
        shutdown::begin(&scheduler);
        machines.into_iter().for_each(|machine| machine.join().unwrap());
        assert_eq!(probe.0.load(Relaxed), 1);
    });
}

/// A processor is added while the runtime ends: the network ends once, after the poll that is under
/// way, and it does end.
#[test]
fn loom_resize_grow_against_shutdown() {
    explore(4, || resize_against_shutdown(1, 2));
}

/// The idle processor retires while the runtime ends.
#[test]
fn loom_resize_shrink_against_shutdown() {
    explore(4, || resize_against_shutdown(2, 1));
}

fn resize_against_shutdown(processors: usize, then: usize) {
    let (scheduler, probe) = with_probe(processors);
    let has_ended = probe.clone();
    let machine = in_last_poll(&scheduler, busy(&scheduler), move |_| {
        assert_eq!(has_ended.0.load(Relaxed), 0, "it ends after the poll");
    });
    let resizing = thread::spawn({
        let scheduler = scheduler.clone();
        move || set_max_procs(&scheduler, then)
    });
    shutdown::begin(&scheduler);
    machine.join().unwrap();
    assert_eq!(resizing.join().unwrap(), processors);
    assert_eq!(probe.0.load(Relaxed), 1);
}

/// The driving thread of a current-thread runtime is not in `all_machines`. It holds the only
/// processor.
#[test]
fn loom_shutdown_ends_the_network_after_the_driving_thread_has_left() {
    explore(6, || {
        let (scheduler, probe) = with_probe(1);
        let has_ended = probe.clone();
        let driving = busy(&scheduler).start(move |local| {
            assert_eq!(has_ended.0.load(Relaxed), 0, "it ends after the poll");
            shutdown::leave(local);
        });
        shutdown::begin(&scheduler);
        driving.join().unwrap();
        assert_eq!(probe.0.load(Relaxed), 1);
    });
}

/// A machine begins a blocking section while the runtime ends, and waits in it for the end of the
/// network: one of the two sides sees the other.
#[test]
fn loom_shutdown_does_not_wait_for_a_section() {
    explore(4, || {
        let (scheduler, probe) = with_probe(1);
        let machine = in_last_poll(&scheduler, without_processor(&scheduler), |local| {
            let outside = Outside::begin(local);
            while !local.scheduler.last_poll.is_over() {
                thread::yield_now();
            }
            drop(outside);
        });
        shutdown::begin(&scheduler);
        machine.join().unwrap();
        assert_eq!(probe.0.load(Relaxed), 1);
    });
}

/// A netpoll is installed at the last moment: it is shut down all the same.
#[test]
fn loom_shutdown_finds_a_netpoll_installed_during_it() {
    explore(6, || {
        let scheduler = Scheduler::new(Config { enable_io: true, ..config(1, Flavor::MultiThread) });
        let probe = Probe::default();
        let installer = thread::spawn({
            let (handle, probe) = (Handle::of(SchedulerRef::new(scheduler.clone())), probe.clone());
            move || drop(handle.netpoll(|| Ok(probe)).unwrap())
        });
        shutdown::begin(&scheduler);
        installer.join().unwrap();
        assert!(probe.0.load(Relaxed) > 0);
    });
}

/// The last machine begins code that may never end, while another thread is about to wait for all
/// machines to leave.
#[test]
fn loom_shutdown_does_not_wait_for_a_machine_that_is_not_awaited() {
    explore(6, || {
        let all_machines = AllMachines::default();
        let machine = Machine::new(0);
        let membership = all_machines.enter(machine.clone());
        let is_over = Gate::default();
        let running = thread::spawn({
            let (all_machines, is_over) = (all_machines.clone(), is_over.clone());
            move || {
                all_machines.do_not_await(&machine);
                is_over.wait();
                await_again();
            }
        });
        all_machines.wait_empty(None);
        // The machine's code ends only now.
        is_over.open();
        running.join().unwrap();
        drop(membership);
    });
}

/// The function of a closure that may be abandoned has returned, and its thread wakes the task that
/// awaits the closure, while the runtime ends. `task` stands for the state of that task: the first
/// of the two threads that schedule the task has its runnable.
///
/// Seen to fail when the thread is awaited again only after the wake.
#[test]
fn loom_shutdown_waits_for_the_waker_of_an_abandoned_closure() {
    explore(6, || {
        let scheduler = scheduler(1);
        // So that no machine comes for the queued task.
        let _holds_the_processor = busy(&scheduler);
        let dropped = Arc::new(AtomicUsize::new(0));
        let future = Dropped(dropped.clone());
        let woken = Arc::new(Mutex::new(Some(task(&scheduler, move || unreachable!("{:p}", &future)))));
        let machine = Machine::new(1);
        let membership = scheduler.all_machines.enter(machine.clone());
        let waking = thread::spawn({
            let (scheduler, woken) = (scheduler.clone(), woken.clone());
            move || {
                scheduler.all_machines.do_not_await(&machine);
                await_again();
                let task = woken.lock().take();
                if let Some(task) = task {
                    submit_global(&scheduler, [task]);
                }
                drop(membership);
            }
        });
        shutdown::begin(&scheduler);
        let aborted = woken.lock().take();
        aborted.into_iter().for_each(cancel);
        scheduler.all_machines.wait_empty(None);
        assert_eq!(dropped.load(Relaxed), 1);
        waking.join().unwrap();
    });
}
