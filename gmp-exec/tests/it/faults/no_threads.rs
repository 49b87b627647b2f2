//! The system can't start any more threads.

use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;
use std::time::Duration;

use gmp_exec::runtime::{Handle, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::{Builder, block_in_place, spawn_blocking_in_place, yield_now};
use gmp_exec::time::sleep;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::support::{
    FOREVER, Flag, Watchdog, compute_for, current, in_child, in_children, lines_of_stderr, multi, run, wait_until,
};

/// Large enough to be refused by the limit below, whatever else the process has mapped.
const STACK: usize = 256 << 20;

/// Until the returned value is dropped, no thread with a stack of [`STACK`] can be started.
struct NoThreads(Rlimit);

impl NoThreads {
    fn begin() -> NoThreads {
        // A thread that is still starting needs memory, and the standard library aborts without.
        wait_until(all_others_sleep);
        let before = getrlimit(Resource::As);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let mapped = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB")).unwrap();
        let limit = mapped.trim().parse::<u64>().unwrap() * 1024 + STACK as u64 / 2;
        setrlimit(Resource::As, Rlimit { current: Some(limit), ..before }).unwrap();
        assert!(thread::Builder::new().stack_size(STACK).spawn(|| ()).is_err(), "threads can still be started");
        NoThreads(before)
    }
}

fn all_others_sleep() -> bool {
    let own = rustix::thread::gettid().as_raw_nonzero().to_string();
    let others = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap());
    others.filter(|task| task.file_name() != *own).all(|task| {
        let stat = std::fs::read_to_string(task.path().join("stat"));
        stat.is_ok_and(|stat| stat.rsplit(") ").next().is_some_and(|rest| rest.starts_with('S')))
    })
}

impl Drop for NoThreads {
    fn drop(&mut self) {
        setrlimit(Resource::As, self.0).unwrap();
    }
}

#[test]
fn without_further_threads_all_tasks_finish() {
    in_children("faults::no_threads::without_further_threads_all_tasks_finish", 0..3, |case| {
        let runtime = starved([1, 2, 4][case]);
        let _watchdog = Watchdog::of(&runtime);
        let limit = NoThreads::begin();
        let tasks: Vec<_> = (0..100).map(|i| runtime.spawn(hold_on_somehow(i))).collect();
        for task in tasks {
            runtime.block_on(task).unwrap();
        }
        wait_until(|| runtime.metrics().num_machines() == 1);
        drop(limit);
    });
}

fn starved(processors: usize) -> Runtime {
    multi(processors).thread_stack_size(STACK).blocking_threshold(Duration::from_millis(1)).build().unwrap()
}

async fn hold_on_somehow(i: usize) {
    for _ in 0..2 {
        match i % 5 {
            0 => thread::sleep(Duration::from_millis(3)),
            1 => compute_for(Duration::from_millis(3)),
            2 => block_in_place(|| thread::sleep(Duration::from_millis(3))),
            3 => spawn_blocking_in_place(|| thread::sleep(Duration::from_millis(3))).await.unwrap(),
            _ => sleep(Duration::from_millis(1)).await,
        }
        yield_now().await;
    }
}

/// The only machine is stuck until another task has run, and the system can't start a thread. When
/// it can again, the scheduler starts one, although no event occurs at that moment.
#[test]
fn when_threads_can_be_started_again_what_waited_goes_on() {
    in_children("faults::no_threads::when_threads_can_be_started_again_what_waited_goes_on", 0..6, |case| {
        let stuck = [stuck_in_a_poll, stuck_in_a_section, stuck_in_a_section_with_a_timer][case % 3];
        let runtime = starved(1 + case / 3);
        let _watchdog = Watchdog::of(&runtime);
        let limit = NoThreads::begin();
        let task = runtime.spawn(async move { stuck() });
        // Long enough for the first attempts to start a thread to have failed.
        thread::sleep(Duration::from_millis(100));
        assert!(!task.is_finished());
        drop(limit);
        runtime.block_on(task).unwrap();
    });
}

/// The one machine that could take the only processor sleeps in the netpoll. No thread is needed.
#[test]
fn without_further_threads_the_sleeper_in_the_netpoll_gets_the_processor_of_a_section() {
    let name = "faults::no_threads::without_further_threads_the_sleeper_in_the_netpoll_gets_the_processor_of_a_section";
    in_children(name, 0..2, |case| {
        let mut builder = multi(1);
        builder.thread_stack_size(STACK).thread_keep_alive(FOREVER).sysmon(case == 0);
        let runtime = builder.build().unwrap();
        let metrics = runtime.metrics();
        run(&runtime, async { stuck_in_a_section() });
        wait_until(|| metrics.num_machines() >= 2 && metrics.num_idle_machines() == metrics.num_machines());
        let _watchdog = Watchdog::of(&runtime);
        let limit = NoThreads::begin();
        let (begun, end) = (Flag::new(), Flag::new());
        let (has_begun, may_end) = (begun.clone(), end.clone());
        let stuck = runtime.spawn(async move {
            block_in_place(|| {
                has_begun.set();
                may_end.wait();
            });
        });
        begun.wait();
        let other = runtime.spawn(async move { end.set() });
        runtime.block_on(async { (stuck.await.unwrap(), other.await.unwrap()) });
        drop(limit);
    });
}

/// tokio's `block_in_place` panics with the reason. gmp waits, and says why, once.
#[test]
fn what_waits_for_a_thread_says_why() {
    in_children("faults::no_threads::what_waits_for_a_thread_says_why", 0..2, |case| {
        let runtime = starved(1 + case);
        let _watchdog = Watchdog::of(&runtime);
        let mut lines = lines_of_stderr();
        let is_reason = |line: &String| line.starts_with("gmp: OS can't spawn worker thread: ");
        let limit = NoThreads::begin();
        let nested =
            || block_in_place(|| Handle::current().block_on(async { spawn(async { stuck_in_a_poll() }).await }));
        let tasks = [(); 2].map(|()| runtime.spawn(async move { nested() }));
        let line = lines.find(is_reason).unwrap();
        // The second of two processors gets its thread unless the system refuses it. A third thread,
        // which is refused first, is asked for if both processors want one at the same time.
        let reasons = ["little is left of the address space", "Resource temporarily unavailable (os error 11)"];
        assert!(reasons[..=case].iter().any(|reason| line.contains(reason)), "{line}");
        drop(limit);
        for task in tasks {
            runtime.block_on(task).unwrap().unwrap();
        }
        eprintln!("the end");
        assert!(!lines.take_while(|line| line != "the end").any(|line| is_reason(&line)), "it was said twice");
    });
}

fn stuck_in_a_poll() {
    let flag = Flag::new();
    let other = flag.clone();
    spawn(async move { other.set() });
    flag.wait();
}

fn stuck_in_a_section() {
    let flag = Flag::new();
    let other = flag.clone();
    spawn(async move { other.set() });
    block_in_place(|| flag.wait());
}

fn stuck_in_a_section_with_a_timer() {
    let flag = Flag::new();
    let other = flag.clone();
    block_in_place(|| {
        Handle::current().spawn(async move {
            sleep(Duration::from_millis(1)).await;
            other.set();
        });
        flag.wait();
    });
}

#[test]
fn a_runtime_without_any_thread_is_an_error() {
    in_child("faults::no_threads::a_runtime_without_any_thread_is_an_error", || {
        let limit = NoThreads::begin();
        assert!(multi(2).thread_stack_size(STACK).build().is_err());
        drop(limit);
        assert!(multi(2).thread_stack_size(STACK).build().is_ok());
    });
}

#[test]
fn a_closure_that_can_get_no_thread_says_so_to_its_spawner() {
    in_children("faults::no_threads::a_closure_that_can_get_no_thread_says_so_to_its_spawner", 0..2, |case| {
        let runtime = [current(), multi(1)][case].thread_stack_size(STACK).max_blocking_threads(1).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let dropped = CountDrop::default();
        let (in_first, in_second) = (dropped.clone(), dropped.clone());
        let limit = NoThreads::begin();
        let spawned = catch_unwind(|| runtime.spawn_blocking(move || drop(in_first)));
        let message = *spawned.unwrap_err().downcast::<String>().unwrap();
        assert_eq!(message, "OS can't spawn worker thread: Resource temporarily unavailable (os error 11)");
        let built = Builder::new().spawn_blocking_on(move || drop(in_second), runtime.handle());
        assert_eq!(built.unwrap_err().raw_os_error(), Some(11));
        assert_eq!(dropped.0.load(SeqCst), 2);
        drop(limit);
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 42)).unwrap(), 42);
        assert_eq!(runtime.metrics().blocking_queue_depth(), 0);
    });
}

/// A thread of the pool exists, and runs one closure after the other.
#[test]
fn closures_that_can_get_no_further_thread_wait_for_the_ones_that_exist() {
    in_children(
        "faults::no_threads::closures_that_can_get_no_further_thread_wait_for_the_ones_that_exist",
        0..2,
        |case| {
            let runtime = [current(), multi(1)][case].thread_stack_size(STACK).build().unwrap();
            let _watchdog = Watchdog::of(&runtime);
            let (begun, end) = (Flag::new(), Flag::new());
            let (has_begun, may_end) = (begun.clone(), end.clone());
            let first = runtime.spawn_blocking(move || {
                has_begun.set();
                may_end.wait();
            });
            begun.wait();
            let limit = NoThreads::begin();
            let others = [1, 2, 3].map(|n| runtime.spawn_blocking(move || n));
            assert_eq!(runtime.metrics().blocking_queue_depth(), 3);
            end.set();
            runtime.block_on(first).unwrap();
            for (n, other) in (1..).zip(others) {
                assert_eq!(runtime.block_on(other).unwrap(), n);
            }
            drop(limit);
        },
    );
}

/// The closure waits for a permit while the pool's thread ends, and gets it from a machine. Its
/// spawner has gone on long ago.
#[test]
fn a_waiting_closure_that_can_get_no_thread_is_cancelled_with_a_line() {
    in_child("faults::no_threads::a_waiting_closure_that_can_get_no_thread_is_cancelled_with_a_line", || {
        let runtime = multi(2).thread_stack_size(STACK).max_blocking_threads(1).build().unwrap();
        let _watchdog = Watchdog::of(&runtime);
        let mut lines = lines_of_stderr();
        let (begun, end) = (Flag::new(), Flag::new());
        let (has_begun, may_end) = (begun.clone(), end.clone());
        let guard = runtime.enter();
        let first = spawn_blocking_in_place(move || {
            has_begun.set();
            may_end.wait();
        });
        begun.wait();
        let (place, waiting) = (line!(), runtime.spawn_blocking(|| 42));
        let limit = NoThreads::begin();
        end.set();
        runtime.block_on(first).unwrap();
        assert!(runtime.block_on(waiting).unwrap_err().is_cancelled());
        let line = lines.find(|line| line.contains("a blocking closure")).unwrap();
        assert!(line.contains(&format!("no_threads.rs:{place}:")), "{line}");
        assert!(
            line.ends_with("OS can't spawn worker thread: Resource temporarily unavailable (os error 11)"),
            "{line}"
        );
        drop((limit, guard));
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 42)).unwrap(), 42);
    });
}

#[derive(Clone, Default)]
struct CountDrop(Arc<AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}
