//! The counters of a runtime, while it runs and as text.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::spawn;
use gmp_exec::task::{spawn_blocking, yield_now};

use crate::futures::join;
use crate::support::{current, every_runtime, multi, run, wait_until};

/// Go: `TestNumGoroutine`.
#[test]
fn the_number_of_tasks_is_exact_when_all_is_quiet() {
    for runtime in every_runtime() {
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

#[test]
fn parks_are_counted_from_the_beginning_and_pair_up_with_unparks() {
    let runtime = multi(2).build().unwrap();
    let metrics = runtime.metrics();
    assert_eq!([0, 1].map(|worker| metrics.worker_park_unpark_count(worker)), [1, 1]);
    assert_eq!([0, 1].map(|worker| metrics.worker_park_count(worker)), [1, 1]);
    run(&runtime, async { yield_now().await });
    wait_until(|| (0..2).any(|worker| metrics.worker_park_unpark_count(worker) >= 3));
    drop(runtime);
    for worker in 0..2 {
        assert_eq!(metrics.worker_park_unpark_count(worker) % 2, 0);
    }
    assert!((0..2).any(|worker| metrics.worker_total_busy_duration(worker) > Duration::ZERO));
}

#[test]
fn a_sleeping_runtime_is_not_busy() {
    const SLEEP: Duration = Duration::from_millis(200);
    for mut builder in [current(), multi(1)] {
        // Not every attempt succeeds: on a loaded system the thread may get no core while it is
        // busy.
        wait_until(|| {
            let runtime = builder.build().unwrap();
            let metrics = runtime.metrics();
            run(&runtime, async { gmp_exec::time::sleep(SLEEP).await });
            drop(runtime);
            assert!(metrics.worker_park_count(0) >= 1);
            let busy = metrics.worker_total_busy_duration(0);
            assert!(Duration::ZERO < busy);
            busy < SLEEP
        });
    }
}

#[test]
fn a_processor_that_a_closure_hands_off_is_not_busy() {
    const HELD: Duration = Duration::from_millis(20);
    // Not every attempt succeeds: on a loaded system it takes long to wake the machine that gets
    // the processor, and the processor counts as busy during that time.
    wait_until(|| {
        // Without sysmon the scheduler hands off the processor before each closure.
        let runtime = multi(2).sysmon(false).build().unwrap();
        let metrics = runtime.metrics();
        for _ in 0..20 {
            run(&runtime, async { spawn_blocking(|| std::thread::sleep(HELD)).await.unwrap() });
        }
        drop(runtime);
        let busy: Duration = (0..2).map(|worker| metrics.worker_total_busy_duration(worker)).sum();
        busy < HELD * 10
    });
}

// ---- while it runs ----

fn one_worker() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).build().unwrap()
}

#[test]
fn a_worker_is_busy_while_its_first_poll_lasts() {
    let runtime = one_worker();
    let metrics = runtime.metrics();
    let (finish, finished) = channel::<()>();
    let task = runtime.spawn(async move { while finished.try_recv().is_err() {} });
    let busy = || metrics.worker_total_busy_duration(0);
    wait_until(|| busy() > Duration::from_millis(5));
    let before = busy();
    wait_until(|| busy() > before);
    finish.send(()).unwrap();
    runtime.block_on(task).unwrap();
}

#[test]
fn busy_time_never_decreases() {
    let runtime = one_worker();
    let metrics = runtime.metrics();
    let mut last = Duration::ZERO;
    for _ in 0..2_000 {
        runtime.block_on(runtime.spawn(async {})).unwrap();
        for _ in 0..10 {
            let now = metrics.worker_total_busy_duration(0);
            assert!(now >= last, "{now:?} after {last:?}");
            last = now;
        }
    }
}

#[test]
fn prometheus_reads_the_text() {
    let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    runtime.block_on(async { gmp_exec::spawn(async {}).await.unwrap() });
    let mut text = String::new();
    runtime.metrics().prometheus(&mut text).unwrap();
    let scrape = prometheus_parse::Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).unwrap();
    let of = |name: &str| scrape.samples.iter().filter(|sample| sample.metric == name).collect::<Vec<_>>();
    let polls = of("gmp_worker_polls_total");
    let sum: f64 = polls.iter().map(|sample| count(sample)).sum();
    assert_eq!((polls.len(), sum), (3, 1.0));
    assert_eq!(polls[2].labels.get("worker"), Some("2"));
    assert_eq!(of("gmp_worker_taken_total").len(), 6, "by worker and by cause");
    assert_eq!(of("gmp_workers").len(), 1);
    let documented =
        |name: &str| text.contains(&format!("# TYPE {name} ")) && text.contains(&format!("# HELP {name} "));
    assert!(scrape.samples.iter().all(|sample| documented(&sample.metric)), "{text}");
}

fn count(sample: &prometheus_parse::Sample) -> f64 {
    match sample.value {
        prometheus_parse::Value::Counter(value) => value,
        ref other => panic!("{} is {other:?} and no counter", sample.metric),
    }
}
