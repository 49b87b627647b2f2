//! The metrics of a runtime as OpenTelemetry's instruments, which are read whenever the exporter
//! asks: no task and no thread of gmp's samples them.
//!
//! `main` prints them; a server would give the provider an exporter for OTLP.

use gmp_exec::runtime::{Handle, RuntimeMetrics};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry_sdk::metrics::SdkMeterProvider;

fn main() {
    let exporter = opentelemetry_stdout::MetricExporter::default();
    let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter).build();
    let runtime = gmp_exec::runtime::Runtime::new().unwrap();
    observe(&provider.meter("gmp"), runtime.handle());
    runtime.block_on(async {
        let tasks: Vec<_> = (0..100).map(|_| gmp_exec::spawn(gmp_exec::task::yield_now())).collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    // Reads all instruments once more and exports them. The runtime is still there.
    provider.shutdown().unwrap();
}

/// Makes the instruments. Each of them asks the runtime when it is read.
fn observe(meter: &Meter, handle: &Handle) {
    gauge(meter, handle, "gmp.tasks", "Tasks that live", RuntimeMetrics::num_alive_tasks);
    gauge(meter, handle, "gmp.workers", "Processors", RuntimeMetrics::num_workers);
    gauge(meter, handle, "gmp.threads", "Threads that run tasks", RuntimeMetrics::num_machines);
    gauge(meter, handle, "gmp.queue", "Tasks in the global queue", RuntimeMetrics::global_queue_depth);
    counter(meter, handle, "gmp.polls", "Polls of tasks", RuntimeMetrics::worker_poll_count);
    counter(meter, handle, "gmp.parks", "How often a worker went to sleep", RuntimeMetrics::worker_park_count);
    let (blocked, computed) = ("Processors taken from sleeping polls", "Processors taken from computing polls");
    counter(meter, handle, "gmp.taken.blocked", blocked, RuntimeMetrics::worker_taken_from_blocked_count);
    counter(meter, handle, "gmp.taken.computing", computed, RuntimeMetrics::worker_taken_from_computing_count);
    busy(meter, handle);
}

fn gauge(
    meter: &Meter,
    handle: &Handle,
    name: &'static str,
    description: &'static str,
    read: fn(&RuntimeMetrics) -> usize,
) {
    let handle = handle.clone();
    let gauge = meter.u64_observable_gauge(name).with_description(description);
    gauge.with_callback(move |observer| observer.observe(read(&handle.metrics()) as u64, &[])).build();
}

/// A series per worker, whose sum is the runtime's.
fn counter(
    meter: &Meter,
    handle: &Handle,
    name: &'static str,
    description: &'static str,
    read: fn(&RuntimeMetrics, usize) -> u64,
) {
    let handle = handle.clone();
    let counter = meter.u64_observable_counter(name).with_description(description);
    let counter = counter.with_callback(move |observer| {
        let metrics = handle.metrics();
        for worker in 0..metrics.num_workers() {
            observer.observe(read(&metrics, worker), &[label(worker)]);
        }
    });
    counter.build();
}

/// The rate of this counter is the share of the time in which a worker was busy.
fn busy(meter: &Meter, handle: &Handle) {
    let handle = handle.clone();
    let counter = meter.f64_observable_counter("gmp.busy").with_unit("s").with_description("Time with work");
    let counter = counter.with_callback(move |observer| {
        let metrics = handle.metrics();
        for worker in 0..metrics.num_workers() {
            observer.observe(metrics.worker_total_busy_duration(worker).as_secs_f64(), &[label(worker)]);
        }
    });
    counter.build();
}

fn label(worker: usize) -> KeyValue {
    KeyValue::new("worker", worker as i64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use gmp_exec::runtime::Builder;
    use opentelemetry_sdk::metrics::InMemoryMetricExporter;
    use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics};

    use super::*;

    /// The sum of the series of each instrument, and how many they are.
    fn sums(exported: &ResourceMetrics) -> HashMap<String, (f64, usize)> {
        let metrics = exported.scope_metrics().flat_map(|scope| scope.metrics());
        metrics.map(|metric| (metric.name().to_owned(), sum(metric.data()))).collect()
    }

    fn sum(data: &AggregatedMetrics) -> (f64, usize) {
        let values: Vec<f64> = match data {
            AggregatedMetrics::U64(MetricData::Gauge(gauge)) => {
                gauge.data_points().map(|point| point.value() as f64).collect()
            }
            AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                sum.data_points().map(|point| point.value() as f64).collect()
            }
            AggregatedMetrics::F64(MetricData::Sum(sum)) => sum.data_points().map(|point| point.value()).collect(),
            other => panic!("no instrument is of this kind: {other:?}"),
        };
        (values.iter().sum(), values.len())
    }

    #[test]
    fn the_exporter_gets_what_the_runtime_counts() {
        let exporter = InMemoryMetricExporter::default();
        let provider = SdkMeterProvider::builder().with_periodic_exporter(exporter.clone()).build();
        let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        observe(&provider.meter("gmp"), runtime.handle());
        let read = || {
            exporter.reset();
            provider.force_flush().unwrap();
            sums(exporter.get_finished_metrics().unwrap().last().unwrap())
        };
        let waiting = runtime.spawn(std::future::pending::<()>());
        let before = read();
        assert_eq!((before["gmp.tasks"], before["gmp.workers"], before["gmp.queue"].1), ((1.0, 1), (2.0, 1), 1));

        let yields = runtime.spawn(async {
            for _ in 0..1_000 {
                gmp_exec::task::yield_now().await;
            }
        });
        runtime.block_on(yields).unwrap();
        let after = read();
        assert_eq!((after["gmp.polls"].1, after["gmp.busy"].1, after["gmp.parks"].1), (2, 2, 2));
        assert!(after["gmp.polls"].0 >= before["gmp.polls"].0 + 1_000.0, "{before:?} {after:?}");
        assert!(after["gmp.busy"].0 > before["gmp.busy"].0, "{before:?} {after:?}");
        assert!(after["gmp.threads"].0 >= 1.0 && after["gmp.taken.blocked"].1 == 2, "{after:?}");
        waiting.abort();
    }
}
