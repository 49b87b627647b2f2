//! The histograms of poll times and of scheduling latencies.

use std::thread;
use std::time::{Duration, Instant};

use gmp_exec::runtime::{Builder, HistogramConfiguration, LogHistogram, Runtime, RuntimeMetrics};
use gmp_exec::task::{block_in_place, spawn_blocking, yield_now};
use gmp_exec::{spawn, time};

use crate::support::{compute_for, current, multi, run, wait_until};

const MS: Duration = Duration::from_millis(1);

/// Both flavours, with histograms whose buckets are 1 ms wide.
fn runtimes() -> [Runtime; 3] {
    [current(), multi(1), multi(2)].map(|mut builder| measuring(&mut builder))
}

fn measuring(builder: &mut Builder) -> Runtime {
    let buckets = HistogramConfiguration::linear(MS, 1_000);
    builder
        .enable_metrics_poll_time_histogram()
        .metrics_poll_time_histogram_configuration(buckets.clone())
        .enable_metrics_schedule_latency_histogram()
        .metrics_schedule_latency_histogram_configuration(buckets)
        .metrics_schedule_latency_histogram_sample(1)
        .build()
        .unwrap()
}

/// How many polls took from `least` to `most`, both included, by the bounds of their buckets.
fn polls(metrics: &RuntimeMetrics, least: Duration, most: Duration) -> u64 {
    let buckets = 0..metrics.poll_time_histogram_num_buckets();
    let is_within = |&bucket: &usize| {
        let range = metrics.poll_time_histogram_bucket_range(bucket);
        range.start >= least && range.start <= most
    };
    let count = |bucket| {
        let of_worker = |worker| metrics.poll_time_histogram_bucket_count(worker, bucket);
        (0..metrics.num_workers()).map(of_worker).sum::<u64>()
    };
    buckets.filter(is_within).map(count).sum()
}

/// The same for scheduling latencies.
fn latencies(metrics: &RuntimeMetrics, least: Duration, most: Duration) -> u64 {
    let buckets = 0..metrics.schedule_latency_histogram_num_buckets();
    let is_within = |&bucket: &usize| {
        let range = metrics.schedule_latency_histogram_bucket_range(bucket);
        range.start >= least && range.start <= most
    };
    let count = |bucket| {
        let of_worker = |worker| metrics.schedule_latency_histogram_bucket_count(worker, bucket);
        (0..metrics.num_workers()).map(of_worker).sum::<u64>()
    };
    buckets.filter(is_within).map(count).sum()
}

fn all_polls(metrics: &RuntimeMetrics) -> u64 {
    polls(metrics, Duration::ZERO, Duration::MAX)
}

fn poll_count(metrics: &RuntimeMetrics) -> u64 {
    (0..metrics.num_workers()).map(|worker| metrics.worker_poll_count(worker)).sum()
}

fn sum(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers()).map(|worker| metrics.poll_time_histogram_sum(worker)).sum()
}

#[test]
fn a_poll_is_counted_where_its_duration_belongs() {
    for runtime in runtimes() {
        let metrics = runtime.metrics();
        let start = Instant::now();
        run(&runtime, async { compute_for(5 * MS) });
        // The poll is counted when it is over, a moment after the task.
        wait_until(|| all_polls(&metrics) == 1);
        let most = start.elapsed();
        assert_eq!(polls(&metrics, 5 * MS, most), 1, "from 5 ms to {most:?}");
        assert!((5 * MS..=most).contains(&sum(&metrics)), "{:?}", sum(&metrics));
        let means = (0..metrics.num_workers()).map(|worker| metrics.worker_mean_poll_time(worker));
        let mean = means.max().unwrap();
        assert!((5 * MS..=most).contains(&mean), "{mean:?}");
    }
}

#[test]
fn without_a_histogram_the_mean_is_an_estimate_and_nothing_is_counted() {
    for mut builder in [current(), multi(1)] {
        let runtime = builder.build().unwrap();
        let metrics = runtime.metrics();
        assert_eq!(metrics.worker_mean_poll_time(0), Duration::ZERO);
        (0..3).for_each(|_| run(&runtime, async { compute_for(5 * MS) }));
        assert!(metrics.worker_mean_poll_time(0) >= 5 * MS);
        assert_eq!(metrics.poll_time_histogram_bucket_range(3), Duration::ZERO..Duration::ZERO);
        assert_eq!((metrics.poll_time_histogram_bucket_count(0, 3), sum(&metrics)), (0, Duration::ZERO));
    }
}

/// Polls that yield, block their thread, compute for too long, wait in a section, and closures.
#[test]
fn every_poll_is_counted_once() {
    for runtime in runtimes() {
        let metrics = runtime.metrics();
        let is_multi = metrics.num_workers() > 1;
        let tasks: Vec<_> = (0..200_u64)
            .map(|n| {
                runtime.spawn(async move {
                    for _ in 0..n {
                        yield_now().await;
                    }
                    match n % 50 {
                        0 => thread::sleep(15 * MS),
                        1 => compute_for(15 * MS),
                        2 => spawn_blocking(|| thread::sleep(2 * MS)).await.unwrap(),
                        3 if is_multi => block_in_place(|| thread::sleep(15 * MS)),
                        4 => time::sleep(2 * MS).await,
                        _ => {}
                    }
                    yield_now().await;
                })
            })
            .collect();
        run(&runtime, async move {
            for task in tasks {
                task.await.unwrap();
            }
        });
        let least = (0..200).map(|n| n + 2).sum::<u64>();
        wait_until(|| all_polls(&metrics) == poll_count(&metrics));
        assert!(all_polls(&metrics) >= least, "{} of {least}", all_polls(&metrics));
        // Each poll was scheduled before, and each is measured.
        wait_until(|| latencies(&metrics, Duration::ZERO, Duration::MAX) == poll_count(&metrics));
    }
}

/// From its second poll on, the scheduler knows the task as one that blocks, and hands off the
/// processor before it polls the task.
#[test]
fn the_polls_of_a_known_hog_are_counted() {
    const POLLS: u64 = 5;
    let runtime = measuring(&mut multi(2));
    let metrics = runtime.metrics();
    run(&runtime, async {
        for _ in 0..POLLS {
            thread::sleep(30 * MS);
            yield_now().await;
        }
    });
    wait_until(|| polls(&metrics, 30 * MS, Duration::MAX) == POLLS);
    wait_until(|| all_polls(&metrics) == poll_count(&metrics));
}

/// On one processor that is never taken, so that both tasks wait for the whole poll.
#[test]
fn a_task_behind_a_long_poll_is_counted_with_the_time_that_it_waited() {
    for mut builder in [current(), multi(1)] {
        let runtime = measuring(builder.sysmon(false));
        let metrics = runtime.metrics();
        let start = Instant::now();
        let handle = runtime.handle().clone();
        run(&runtime, async move {
            let of_task = spawn(async {});
            let of_thread = thread::spawn(move || handle.spawn(async {})).join().unwrap();
            compute_for(20 * MS);
            of_task.await.unwrap();
            of_thread.await.unwrap();
        });
        let most = start.elapsed();
        // A stamp may be 64 ns early.
        wait_until(|| latencies(&metrics, 20 * MS, most) >= 2);
        assert_eq!(latencies(&metrics, 20 * MS, most), 2, "and no other task waited for so long");
        let sum = metrics.schedule_latency_histogram_sum(0);
        assert!((40 * MS..3 * most).contains(&sum), "{sum:?}");
    }
}

#[test]
fn one_of_eight_schedulings_is_measured() {
    const YIELDS: u64 = 80_000;
    for mut builder in [current(), multi(1)] {
        let runtime = builder.enable_metrics_schedule_latency_histogram().build().unwrap();
        run(&runtime, async {
            for _ in 0..YIELDS {
                yield_now().await;
            }
        });
        let measured = latencies(&runtime.metrics(), Duration::ZERO, Duration::MAX);
        assert!(measured.abs_diff(YIELDS / 8) < YIELDS / 80, "{measured} of {YIELDS}");
    }
}

/// The descriptors of `LogHistogram` reach the runtime.
#[test]
fn a_logarithmic_histogram_tells_short_polls_apart() {
    let mut builder = multi(1);
    let log = HistogramConfiguration::log(LogHistogram::builder().max_error(0.1));
    let runtime =
        builder.enable_metrics_poll_time_histogram().metrics_poll_time_histogram_configuration(log).build().unwrap();
    let metrics = runtime.metrics();
    run(&runtime, async { compute_for(Duration::from_micros(50)) });
    wait_until(|| all_polls(&metrics) == 1);
    assert_eq!(polls(&metrics, Duration::from_micros(44), Duration::MAX), 1);
}
