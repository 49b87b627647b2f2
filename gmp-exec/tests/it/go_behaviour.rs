//! What Go's scheduler promises, and its `proc_test.go` checks, as far as it makes sense for an executor.
//!
//! A goroutine that runs for long is preempted; a poll can't be. So where Go's tests say "a loop", these say "a poll that
//! does not return", and the property is that everybody else goes on, because the processor was taken.

use crate::support::{
    FOREVER, Flag, PATIENCE, Random, Watchdog, busy_wait_until, compute_for, current, multi, run, taken, wait_until,
};
use gmp_exec::netpoll::Netpoll;
use gmp_exec::runtime::Runtime;
use gmp_exec::task::{blocking, yield_now};
use gmp_exec::time::{interval, sleep, timeout};
use gmp_exec::{spawn, task};
use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Waker;
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

fn every_kind() -> Vec<Runtime> {
    vec![current().build().unwrap(), multi(1).build().unwrap(), multi(2).build().unwrap(), multi(8).build().unwrap()]
}

/// Go: `TestStopTheWorldDeadlock`. What stops Go's world changes hands here: processors, all the time.
#[test]
fn a_task_that_respawns_itself_goes_on_while_processors_change_hands() {
    let runtime = multi(3).blocking_threshold(Duration::from_micros(100)).build().unwrap();
    let generations = Arc::new(AtomicU64::new(0));
    respawn(generations.clone());
    fn respawn(generations: Arc<AtomicU64>) {
        if gmp_exec::runtime::Handle::try_current().is_err() {
            return;
        }
        spawn(async move {
            generations.fetch_add(1, SeqCst);
            respawn(generations);
        });
    }
    let _entered = runtime.enter();
    respawn(generations.clone());
    let hogs = run(&runtime, async {
        let hogs: Vec<_> = (0..4).map(|_| spawn(hog_by_turns())).collect();
        let mut ended = 0;
        for hog in hogs {
            hog.await.unwrap();
            ended += 1;
        }
        ended
    });
    assert_eq!(hogs, 4);
    let before = generations.load(SeqCst);
    let _watchdog = Watchdog::of(&runtime);
    wait_until(|| generations.load(SeqCst) > before + 1_000);
}

async fn hog_by_turns() {
    for turn in 0..100 {
        if turn % 2 == 0 {
            compute_for(Duration::from_micros(300))
        } else {
            thread::sleep(Duration::from_micros(300))
        }
        yield_now().await;
    }
}

/// Go: `TestYieldProgress`, `TestYieldLockedProgress`.
#[test]
fn a_task_that_yields_in_a_loop_lets_the_one_it_waits_for_run() {
    for runtime in every_kind() {
        run(&runtime, async {
            let (send, mut receive) = mpsc::unbounded_channel();
            let waiter = spawn(async move {
                while receive.try_recv().is_err() {
                    yield_now().await;
                }
            });
            sleep(Duration::from_millis(10)).await;
            send.send(()).unwrap();
            waiter.await.unwrap();
        });
    }
}

/// Go: `TestYieldLocked`, `TestBlockLocked`. The locked thread is here a declared blocking section.
#[test]
fn turns_inside_a_blocking_section_all_come() {
    let runtime = multi(2).build().unwrap();
    let handle = runtime.handle().clone();
    run(&runtime, async move {
        let (send, mut receive) = mpsc::channel(1);
        let sender = spawn(async move {
            task::block_in_place(|| {
                handle.block_on(async {
                    for turn in 0..10 {
                        yield_now().await;
                        sleep(Duration::from_micros(10)).await;
                        send.send(turn).await.unwrap();
                    }
                })
            });
        });
        for turn in 0..10 {
            assert_eq!(receive.recv().await, Some(turn));
        }
        sender.await.unwrap();
    });
}

/// Go: `TestGoroutineParallelism`. Without sysmon, so that it is the wake-ups that keep every processor busy.
#[test]
fn as_many_polls_run_at_a_time_as_there_are_processors() {
    let runtime = multi(4).sysmon(false).build().unwrap();
    for _ in 0..10 {
        let token = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..4).map(|place| runtime.spawn(pass_token(token.clone(), place, 4))).collect();
        run(&runtime, join(tasks));
    }
}

/// Waits for the token by computing and passes it on, three laps, all in one poll. The core is offered to the other
/// threads all the time: there may be fewer cores than processors.
async fn pass_token(token: Arc<AtomicUsize>, place: usize, places: usize) {
    for lap in 0..3 {
        busy_wait_until(|| {
            thread::yield_now();
            token.load(SeqCst) == lap * places + place
        });
        token.fetch_add(1, SeqCst);
    }
}

async fn join<T>(tasks: Vec<task::JoinHandle<T>>) -> Vec<T> {
    let mut outputs = Vec::new();
    for task in tasks {
        outputs.push(task.await.unwrap());
    }
    outputs
}

/// Go: `TestGoroutineParallelism2`, with and without load, with and without the network poller (#45867).
#[test]
fn parallelism_holds_while_machines_begin_to_park() {
    for (load, has_netpoll) in [(false, false), (true, false), (false, true), (true, true)] {
        let runtime = multi(4).sysmon(false).build().unwrap();
        if has_netpoll {
            runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        }
        for _ in 0..25 {
            if load {
                warm_up(&runtime);
            }
            // Each task spawns the next one and then waits: whoever is spawned is in `runnext` until the wait yields.
            let token = Arc::new(AtomicUsize::new(0));
            run(&runtime, spawn_nested(token, 0));
        }
    }
}

fn spawn_nested(token: Arc<AtomicUsize>, place: usize) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        if place < 4 {
            let own = spawn(pass_token(token.clone(), place, 4));
            spawn(spawn_nested(token, place + 1)).await.unwrap();
            own.await.unwrap();
        }
    })
}

/// All machines have run something and are about to look for more in vain.
fn warm_up(runtime: &Runtime) {
    let tasks = (0..8).map(|_| runtime.spawn(async { compute_for(Duration::from_micros(20)) })).collect();
    run(runtime, join(tasks));
}

/// Go: `TestTimerFairness`.
#[test]
fn a_timer_fires_while_two_tasks_hammer_a_channel() {
    for runtime in every_kind() {
        run(&runtime, async {
            let (send, mut receive) = mpsc::channel::<u64>(1);
            let sender = spawn(async move { while send.send(0).await.is_ok() {} });
            let hammer = async { while receive.recv().await.is_some() {} };
            assert!(timeout(Duration::from_millis(20), hammer).await.is_err());
            drop(receive);
            sender.await.unwrap();
        });
    }
}

/// Go: `TestTimerFairness2`, the same with a system call in the loop.
#[test]
fn a_timer_fires_while_two_tasks_with_system_calls_hammer_a_channel() {
    for runtime in every_kind() {
        run(&runtime, async {
            let (send, mut receive) = mpsc::channel::<u64>(1);
            let system_call = || blocking(|| std::path::Path::new("/").exists());
            let sender = spawn(async move {
                while send.send(0).await.is_ok() {
                    system_call();
                }
            });
            let hammer = async {
                while receive.recv().await.is_some() {
                    system_call();
                }
            };
            assert!(timeout(Duration::from_millis(20), hammer).await.is_err());
            drop(receive);
            sender.await.unwrap();
        });
    }
}

/// Go: `TestAfterFuncStarvation` (#65178).
#[test]
fn a_short_timer_of_another_task_fires_behind_a_ping_pong() {
    for runtime in every_kind() {
        run(&runtime, async {
            let stop = Flag::new();
            let pair = [ping_pong(stop.clone(), 0), ping_pong(stop.clone(), 0)].map(spawn);
            let timer = spawn(async move {
                sleep(Duration::from_micros(1)).await;
                stop.set();
            });
            timer.await.unwrap();
            for task in pair {
                task.await.unwrap();
            }
        });
    }
}

/// Sends a ball to and fro between itself and another task until `stop`; `work` loops a turn. Returns the turns.
async fn ping_pong(stop: Flag, work: u64) -> u64 {
    let (send_there, mut receive_there) = mpsc::channel(1);
    let (send_back, mut receive_back) = mpsc::channel(1);
    let partner = spawn(async move {
        while let Some(ball) = receive_there.recv().await {
            spin(work);
            if send_back.send(ball).await.is_err() {
                return;
            }
        }
    });
    let mut turns = 0;
    while !stop.is_set() {
        send_there.send(turns).await.unwrap();
        assert_eq!(receive_back.recv().await, Some(turns));
        spin(work);
        turns += 1;
    }
    drop(send_there);
    partner.await.unwrap();
    turns
}

fn spin(work: u64) {
    for _ in 0..work {
        std::hint::spin_loop();
    }
}

/// Go: `TestPreemption`, `TestAsyncPreempt`, with one processor and with two.
#[test]
fn polls_that_wait_for_each_other_by_computing_both_end() {
    for processors in [1, 2] {
        let runtime = multi(processors).build().unwrap();
        run(&runtime, async {
            let turn = Arc::new(AtomicUsize::new(0));
            let players = [0, 1].map(|parity| {
                let turn = turn.clone();
                spawn(async move {
                    for _ in 0..20 {
                        busy_wait_until(|| turn.load(SeqCst) % 2 == parity);
                        turn.fetch_add(1, SeqCst);
                    }
                })
            });
            for player in players {
                player.await.unwrap();
            }
            assert_eq!(turn.load(SeqCst), 40);
        });
    }
}

/// Go: `TestPreemptionGC`, `TestGCFairness`: nothing is stopped by polls that never end. More of them than processors,
/// each found by sysmon or known already; their number is within `max_hogs`, above which only the kernel could help.
#[test]
fn polls_that_compute_without_end_stop_nobody() {
    for processors in [1, 2] {
        let runtime = multi(processors).max_hogs(4).build().unwrap();
        let stop = Flag::new();
        let hogs: Vec<_> = (0..4)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn(async move { stop.busy_wait() })
            })
            .collect();
        run(&runtime, async {
            for _ in 0..20 {
                spawn(async { sleep(Duration::from_millis(1)).await }).await.unwrap();
            }
        });
        assert!(taken(&runtime) != (0, 0));
        stop.set();
        run(&runtime, join(hogs));
    }
}

/// The same for polls that sleep, of which there may be any number.
#[test]
fn polls_that_block_without_end_stop_nobody() {
    for processors in [1, 2] {
        let runtime = multi(processors).build().unwrap();
        let stop = Flag::new();
        let hogs: Vec<_> = (0..16)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn(async move { stop.wait() })
            })
            .collect();
        run(&runtime, async {
            for _ in 0..20 {
                spawn(async { sleep(Duration::from_millis(1)).await }).await.unwrap();
            }
        });
        assert!(taken(&runtime) != (0, 0));
        stop.set();
        run(&runtime, join(hogs));
    }
}

/// Go: `TestPingPongHog`. Neither must the pair that computes a thousand times as much keep the other one waiting, nor the
/// pair that is quickly through live on `runnext`. No processor is taken, so that the queues alone see to it.
#[test]
fn two_pairs_with_different_work_get_turns_within_a_factor_of_20() {
    let runtime = multi(1).blocking_threshold(FOREVER).build().unwrap();
    let (heavy, light) = run(&runtime, async {
        let stop = Flag::new();
        let heavy = spawn(ping_pong(stop.clone(), 10_000));
        let light = spawn(ping_pong(stop.clone(), 10));
        sleep(Duration::from_millis(100)).await;
        stop.set();
        (heavy.await.unwrap(), light.await.unwrap())
    });
    assert!(heavy > 0 && light > 0, "{heavy} and {light} turns");
    assert!(light < 20 * heavy && heavy < 20 * light, "{heavy} and {light} turns");
}

/// Go: `TestPreemptionAfterSyscall`. Eight polls that do nothing but one short system call after the other, on two
/// processors: all eight start, and all see the end.
#[test]
fn loops_of_short_system_calls_hold_nobody_up() {
    for (micros, declared) in [(10, true), (100, true), (1_000, true), (10, false), (100, false), (1_000, false)] {
        let runtime = multi(2).max_hogs(8).build().unwrap();
        let (started, stop) = (Arc::new(AtomicUsize::new(0)), Flag::new());
        let tasks = (0..8).map(|_| {
            let (started, stop) = (started.clone(), stop.clone());
            runtime.spawn(async move {
                started.fetch_add(1, SeqCst);
                let call = || thread::sleep(Duration::from_micros(micros));
                while !stop.is_set() {
                    if declared { blocking(call) } else { call() }
                }
            })
        });
        let tasks = tasks.collect();
        let _watchdog = Watchdog::of(&runtime);
        wait_until(|| started.load(SeqCst) == 8);
        stop.set();
        run(&runtime, join(tasks));
    }
}

/// Go: `TestNetpollBreak`. Everybody sleeps in a poller that nothing ends but a wake-up.
#[test]
fn the_poller_is_interrupted_for_each_task_from_outside() {
    for processors in [1, 2, 4] {
        let runtime = multi(processors).sysmon(false).build().unwrap();
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let _watchdog = Watchdog::of(&runtime);
        for round in 0..1_000 {
            assert_eq!(runtime.block_on(runtime.spawn(async move { round })).unwrap(), round);
        }
        assert!(netpoll.was_used_by_one_at_a_time());
    }
}

/// Go: `BenchmarkNetpollBreak`: ten at a time.
#[test]
fn the_poller_is_interrupted_by_many_at_a_time() {
    let runtime = multi(2).sysmon(false).build().unwrap();
    let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
    let _watchdog = Watchdog::of(&runtime);
    thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| (0..200).for_each(|_| runtime.block_on(runtime.spawn(async {})).unwrap()));
        }
    });
    assert!(netpoll.was_used_by_one_at_a_time());
}

/// Go: `TestNetpollWaiters`, `TestNetpollDeadlock`: what becomes ready is run, whoever polls, and timers go on.
#[test]
fn what_the_netpoll_wakes_runs_and_timers_fire_beside_it() {
    for runtime in [current(), multi(1), multi(2)].map(|mut builder| builder.build().unwrap()) {
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let source = netpoll.clone();
        let feeder = thread::spawn(move || {
            for _ in 0..100 {
                wait_until(|| source.waiting() > 0);
                source.make_ready();
            }
        });
        let waiting = netpoll.clone();
        run(&runtime, async move {
            for _ in 0..100 {
                let ready = waiting.clone();
                spawn(async move { ready.wait().await }).await.unwrap();
                sleep(Duration::from_micros(100)).await;
            }
        });
        feeder.join().unwrap();
        assert_eq!(netpoll.waiting(), 0);
        assert!(netpoll.was_used_by_one_at_a_time());
    }
}

/// Go: `TestTimerFairness` for the network: a processor that always has tasks still looks at it.
#[test]
fn the_network_is_served_while_every_processor_is_busy() {
    for runtime in [current(), multi(1), multi(2)].map(|mut builder| builder.build().unwrap()) {
        let netpoll = runtime.handle().netpoll(|| Ok(FakeNetpoll::default())).unwrap();
        let stop = Flag::new();
        let busy: Vec<_> = (0..4)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn(async move {
                    while !stop.is_set() {
                        yield_now().await;
                    }
                })
            })
            .collect();
        netpoll.make_ready();
        run(&runtime, async move { netpoll.wait().await });
        stop.set();
        run(&runtime, join(busy));
    }
}

/// Go: `TestBigGOMAXPROCS`.
#[test]
fn far_more_processors_than_cores_work() {
    for processors in [64, 256, 1024] {
        let runtime = multi(processors).build().unwrap();
        let sum: u64 = run(&runtime, async move {
            let spawner = |i: u64| async move { join((0..10).map(|j| spawn(async move { i * j })).collect()).await };
            let spawners = (0..processors as u64).map(|i| spawn(spawner(i))).collect();
            join(spawners).await.into_iter().flatten().sum()
        });
        let processors = processors as u64;
        assert_eq!(sum, 45 * processors * (processors - 1) / 2);
    }
}

/// Go: `TestTickerConcurrentStress`, `TestTimerStopStress`: timers are set, moved, dropped and fired by many at a time.
#[test]
fn timers_that_are_set_moved_and_dropped_everywhere_fire_exactly_for_those_who_wait() {
    let runtime = multi(4).build().unwrap();
    let fired = run(&runtime, async {
        let tasks = (0..200u64).map(|seed| spawn(use_timers(Random::new(seed)))).collect();
        join(tasks).await.into_iter().sum::<u64>()
    });
    assert_eq!(fired, 200 * 20);
}

async fn use_timers(mut random: Random) -> u64 {
    let mut fired = 0;
    for _ in 0..20 {
        let dropped = sleep(Duration::from_micros(random.below(500)));
        let short = Duration::from_micros(random.below(500));
        let _ = timeout(short, pending::<()>()).await;
        drop(dropped);
        let mut moved = std::pin::pin!(sleep(PATIENCE));
        assert!(futures::poll!(moved.as_mut()).is_pending());
        moved.as_mut().reset(gmp_exec::time::Instant::now() + Duration::from_micros(random.below(500)));
        moved.await;
        fired += 1;
    }
    fired
}

/// Go: `TestMultiWakeupTicker`, `TestTickerStress`: nobody's tick is lost while others compute.
#[test]
fn tickers_of_many_tasks_tick_beside_work() {
    let runtime = multi(2).build().unwrap();
    run(&runtime, async {
        let tickers = (0..10).map(|_| {
            spawn(async {
                let mut ticker = interval(Duration::from_millis(3));
                for _ in 0..20 {
                    ticker.tick().await;
                    compute_for(Duration::from_micros(300));
                }
            })
        });
        join(tickers.collect()).await;
    });
}

/// Go: `TestSleepZeroDeadlock`.
#[test]
fn sleeping_for_no_time_in_a_loop_stops_nobody() {
    for runtime in every_kind() {
        run(&runtime, async {
            let sleepers = (0..4).map(|_| {
                spawn(async {
                    for _ in 0..500 {
                        sleep(Duration::ZERO).await;
                        spawn(async {}).await.unwrap();
                    }
                })
            });
            join(sleepers.collect()).await;
        });
    }
}

/// Go: `TestNumGoroutine`.
#[test]
fn the_number_of_tasks_is_exact_when_all_is_quiet() {
    for runtime in every_kind() {
        let stop = Arc::new(tokio::sync::Semaphore::new(0));
        let metrics = runtime.metrics();
        let waiting = |stop: Arc<tokio::sync::Semaphore>| async move { drop(stop.acquire().await) };
        let tasks: Vec<_> = (0..1_000).map(|_| runtime.spawn(waiting(stop.clone()))).collect();
        run(&runtime, async {
            join((0..1_000).map(|_| spawn(yield_now())).collect()).await;
        });
        wait_until(|| metrics.num_alive_tasks() == 1_000);
        stop.add_permits(1_000);
        run(&runtime, join(tasks));
        wait_until(|| metrics.num_alive_tasks() == 0);
    }
}

/// A source of readiness that a test controls. Sleeps as a reactor does: only a wake-up or a timeout ends it.
#[derive(Default)]
pub(crate) struct FakeNetpoll {
    state: Mutex<FakeState>,
    changed: Condvar,
    inside: AtomicUsize,
    crowded: AtomicBool,
}

#[derive(Default)]
struct FakeState {
    woken: bool,
    /// Events that nobody has taken yet.
    ready: usize,
    waiters: VecDeque<Waker>,
}

impl FakeNetpoll {
    /// Lets one task through `wait`.
    pub(crate) fn make_ready(&self) {
        self.state.lock().unwrap().ready += 1;
        self.changed.notify_all();
    }

    pub(crate) async fn wait(&self) {
        let mut registered = false;
        std::future::poll_fn(|cx| {
            if registered {
                return std::task::Poll::Ready(());
            }
            registered = true;
            self.state.lock().unwrap().waiters.push_back(cx.waker().clone());
            self.changed.notify_all();
            std::task::Poll::Pending
        })
        .await;
    }

    pub(crate) fn waiting(&self) -> usize {
        self.state.lock().unwrap().waiters.len()
    }

    pub(crate) fn was_used_by_one_at_a_time(&self) -> bool {
        !self.crowded.load(SeqCst)
    }

    fn sleep(&self, timeout: Option<Duration>) -> Vec<Waker> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let mut state = self.state.lock().unwrap();
        loop {
            let count = state.ready.min(state.waiters.len());
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if count > 0 || std::mem::take(&mut state.woken) || left == Some(Duration::ZERO) {
                state.ready -= count;
                return state.waiters.drain(..count).collect();
            }
            state = match left {
                None => self.changed.wait(state).unwrap(),
                Some(left) => self.changed.wait_timeout(state, left).unwrap().0,
            };
        }
    }
}

impl Netpoll for FakeNetpoll {
    fn poll(&self, timeout: Option<Duration>) -> io::Result<()> {
        if self.inside.fetch_add(1, SeqCst) > 0 {
            self.crowded.store(true, SeqCst);
        }
        self.sleep(timeout).into_iter().for_each(Waker::wake);
        self.inside.fetch_sub(1, SeqCst);
        Ok(())
    }

    fn wake(&self) {
        self.state.lock().unwrap().woken = true;
        self.changed.notify_all();
    }
}
