//! The runtime's counters, while it runs and as text.

use std::sync::mpsc::channel;
use std::time::Duration;

use gmp_exec::runtime::{Builder, Runtime};

use super::support::wait_until;

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
