use std::time::Duration;

use super::*;

fn ns(nanoseconds: u64) -> Duration {
    Duration::from_nanos(nanoseconds)
}

fn log(min: u64, max: u64, precision: u32) -> HistogramConfiguration {
    let builder = LogHistogram::builder().min_value(ns(min)).max_value(ns(max));
    HistogramConfiguration::log(builder.precision_exact(precision))
}

/// All kinds of histograms, within reason.
fn all() -> Vec<HistogramConfiguration> {
    let mut all = vec![HistogramConfiguration::linear(ns(1), 1), HistogramConfiguration::linear(ns(u64::MAX), 3)];
    all.extend((1..20).map(|buckets| HistogramConfiguration::linear(ns(100), buckets)));
    for resolution in [1, 2, 50_000, u64::MAX] {
        let scaled = |buckets| HistogramConfiguration::scaled(HistogramScale::Log, ns(resolution), buckets);
        all.extend([1, 2, 10, 100].map(scaled));
    }
    for precision in 0..=10 {
        for min in [0, 1, 2, 3, 7, 100, 4_095, 1 << 40, u64::MAX] {
            all.extend([1, 2, 100, 65_537, 60_000_000_000, u64::MAX].map(|max| log(min, max, precision)));
        }
    }
    all
}

#[test]
fn buckets_follow_each_other_and_hold_every_value_once() {
    for configuration in all() {
        let mut end = 0;
        for bucket in 0..configuration.buckets() {
            let range = configuration.range(bucket);
            assert_eq!(range.start, end, "{configuration:?}: bucket {bucket}");
            end = range.end;
            if range.start == u64::MAX {
                // Nothing is left for the buckets of a histogram that goes beyond the longest time.
                continue;
            }
            assert!(range.end > range.start, "{configuration:?}: bucket {bucket} is {range:?}");
            for value in [range.start, range.end - 1] {
                assert_eq!(configuration.bucket_of(value), bucket, "{configuration:?}: {value} ns");
            }
        }
        assert_eq!(end, u64::MAX, "{configuration:?}");
        assert!(configuration.bucket_of(u64::MAX) < configuration.buckets(), "{configuration:?}");
    }
}

#[test]
fn the_error_and_both_ends_are_as_set() {
    for precision in 0..=10 {
        for (min, max) in [(100, 60_000_000_000), (1, 1_000), (4_095, 4_096), (20_000, 4_000_000)] {
            let configuration = log(min, max, precision);
            let last = configuration.buckets() - 1;
            assert!(configuration.range(0).end <= min.max(1), "the least duration is told apart");
            assert!(configuration.range(last).start >= max, "the longest duration is told apart");
            assert!(configuration.range(last - 1).start < max, "there is no bucket too many");
            for bucket in 1..last {
                let range = configuration.range(bucket);
                let width = range.end - range.start;
                assert!(width == 1 || (width << precision) <= range.start, "{configuration:?}: {range:?}");
            }
        }
    }
}

/// What tokio 1.54 answers for the same settings.
#[test]
fn the_buckets_are_those_of_tokio() {
    let default = HistogramConfiguration::log(LogHistogram::default());
    assert_eq!((default.buckets(), default.range(0), default.range(1)), (119, 0..96, 96..112));
    let doubling = log(20_000, 4_000_000, 0);
    assert_eq!((doubling.buckets(), doubling.range(1)), (10, 16_384..32_768));
    let fine = LogHistogram::builder().min_value(ns(100)).max_value(Duration::from_secs(120)).max_error(0.1);
    assert_eq!(HistogramConfiguration::log(fine).buckets(), 485);
    let older = HistogramConfiguration::scaled(HistogramScale::Log, ns(50_000), 3);
    assert_eq!([0, 1, 2].map(|bucket| older.range(bucket)), [0..65_536, 65_536..131_072, 131_072..u64::MAX]);
    let linear = HistogramConfiguration::linear(ns(50_000), 3);
    assert_eq!([0, 1, 2].map(|bucket| linear.range(bucket)), [0..50_000, 50_000..100_000, 100_000..u64::MAX]);
}

#[test]
fn the_sum_and_the_counts_are_those_of_the_values() {
    let histogram = Histogram::new(&HistogramConfiguration::linear(ns(10), 3));
    [0, 9, 10, 25, 1_000].into_iter().for_each(|value| histogram.record(value));
    assert_eq!([0, 1, 2].map(|bucket| histogram.count(bucket)), [2, 1, 2]);
    assert_eq!(histogram.sum(), ns(1_044));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    fn refused<T>(f: impl FnOnce() -> T + std::panic::UnwindSafe) -> bool {
        std::panic::catch_unwind(f).is_err()
    }
    assert!(refused(|| HistogramConfiguration::linear(Duration::ZERO, 1)));
    assert!(refused(|| HistogramConfiguration::linear(ns(1), 0)));
    assert!(refused(|| HistogramConfiguration::scaled(HistogramScale::Log, ns(1), 0)));
    assert!(refused(|| LogHistogram::builder().max_error(0.0).build()));
    assert!(refused(|| LogHistogram::builder().max_error(1.0).build()));
    assert!(refused(|| LogHistogram::builder().max_error(f64::NAN).build()));
    assert!(refused(|| LogHistogram::builder().precision_exact(11).build()));
    assert!(refused(|| LogHistogram::builder().max_value(Duration::ZERO).build()));
}
