//! `RuntimeMetrics::prometheus`, as an independent parser reads it.

use std::time::Duration;

use gmp_exec::runtime::{Builder, RuntimeMetrics};
use gmp_exec::spawn;
use gmp_exec::task::yield_now;

use crate::support::{multi, run, wait_until};

#[test]
fn its_parser_reads_the_text() {
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
    assert_eq!(of("gmp_worker_taken_total").len(), 6, "by worker and by verdict");
    assert_eq!(of("gmp_blocked_seconds_total").len(), 3, "by verdict");
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

#[test]
fn its_parser_reads_the_histograms() {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(2).enable_metrics_poll_time_histogram();
    builder.enable_metrics_schedule_latency_histogram().metrics_schedule_latency_histogram_sample(1);
    let runtime = builder.build().unwrap();
    let metrics = runtime.metrics();
    (0..20).for_each(|_| runtime.block_on(runtime.spawn(async { yield_now().await })).unwrap());
    wait_until(|| polls_measured(&metrics) == 40);
    let mut text = String::new();
    metrics.prometheus(&mut text).unwrap();
    let scrape = prometheus_parse::Scrape::parse(text.lines().map(|line| Ok(line.to_owned()))).unwrap();
    for name in ["gmp_poll_seconds", "gmp_schedule_latency_seconds"] {
        let of = |suffix: &str| {
            let name = format!("{name}{suffix}");
            let mut samples: Vec<_> = scrape.samples.iter().filter(|sample| sample.metric == name).collect();
            // The parser returns histograms in no order.
            samples.sort_by_key(|sample| sample.labels.get("worker").map(str::to_owned));
            samples
        };
        let histograms: Vec<_> = of("").into_iter().map(buckets).collect();
        assert_eq!(histograms.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10], "by worker");
        assert!(histograms.iter().all(|buckets| buckets[0].less_than == 0.0001 && buckets[9].less_than.is_infinite()));
        assert!(histograms.iter().all(|buckets| buckets.is_sorted_by_key(|bucket| bucket.count)));
        let counts = of("_count").into_iter().map(plain).collect::<Vec<_>>();
        assert_eq!(histograms.iter().map(|buckets| buckets[9].count).collect::<Vec<_>>(), counts);
        assert_eq!(counts.iter().sum::<f64>(), 40.0);
        let sum: f64 = of("_sum").into_iter().map(plain).sum();
        assert!(0.0 < sum && sum < 100.0, "{sum} seconds");
    }
}

fn polls_measured(metrics: &RuntimeMetrics) -> u64 {
    let buckets = |worker| (0..10).map(move |bucket| (worker, bucket));
    (0..2).flat_map(buckets).map(|(worker, bucket)| metrics.poll_time_histogram_bucket_count(worker, bucket)).sum()
}

fn buckets(sample: &prometheus_parse::Sample) -> Vec<prometheus_parse::HistogramCount> {
    match &sample.value {
        prometheus_parse::Value::Histogram(buckets) => buckets.clone(),
        other => panic!("{} is {other:?} and no histogram", sample.metric),
    }
}

fn plain(sample: &prometheus_parse::Sample) -> f64 {
    match sample.value {
        prometheus_parse::Value::Untyped(value) => value,
        ref other => panic!("{} is {other:?}", sample.metric),
    }
}

/// A poll that holds its thread is in the text as one, with its length.
#[test]
fn blocked_polls_are_counted_by_verdict() {
    let runtime = multi(1).build().unwrap();
    let metrics = runtime.metrics();
    run(&runtime, async {
        spawn(yield_now()); // waits for the processor
        std::thread::sleep(Duration::from_millis(30));
    });
    let mut text = String::new();
    wait_until(|| {
        text.clear();
        metrics.prometheus(&mut text).unwrap();
        let lines =
            text.lines().filter_map(|line| line.strip_prefix("gmp_blocked_seconds_total{verdict=\"blocked\"} "));
        lines.map(|seconds| seconds.parse::<f64>().unwrap()).sum::<f64>() >= 0.015
    });
    assert!(text.contains("\ngmp_blocked_polls_total{verdict=\"blocked\"} 1\n"), "{text}");
    assert!(text.contains("\ngmp_worker_taken_total{worker=\"0\",verdict=\"blocked\"} 1\n"), "{text}");
}
