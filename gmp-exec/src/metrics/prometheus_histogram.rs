//! The histograms in Prometheus' text format: counts add up from bucket to bucket.

use std::fmt::{self, Write};
use std::time::Duration;

use super::RuntimeMetrics;
use super::histogram::Histogram;
use super::prometheus::Page;

impl RuntimeMetrics {
    pub(super) fn write_histograms(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
        let workers = || 0..self.num_workers();
        if self.poll_time_histogram_enabled() {
            let polls = workers().filter_map(|worker| self.poll_times(worker));
            write_histogram(page, "gmp_poll_seconds", "How long polls took.", polls)?;
        }
        if self.schedule_latency_histogram_enabled() {
            let help = "How long tasks waited to be polled; a sample.";
            let latencies = workers().filter_map(|worker| self.latencies(worker));
            write_histogram(page, "gmp_schedule_latency_seconds", help, latencies)?;
        }
        Ok(())
    }
}

fn write_histogram<'a>(
    page: &mut Page<'_, impl Write>,
    name: &str,
    help: &str,
    of_workers: impl Iterator<Item = &'a Histogram>,
) -> fmt::Result {
    page.family(name, "histogram", help)?;
    for (worker, histogram) in of_workers.enumerate() {
        let mut count = 0;
        for bucket in 0..histogram.buckets() {
            count += histogram.count(bucket);
            let bound = bound(histogram.range(bucket).end);
            page.sample(&format!("{name}_bucket"), &format!("{{worker=\"{worker}\",le=\"{bound}\"}}"), count)?;
        }
        let worker = format!("{{worker=\"{worker}\"}}");
        page.sample(&format!("{name}_sum"), &worker, histogram.sum().as_secs_f64())?;
        page.sample(&format!("{name}_count"), &worker, count)?;
    }
    Ok(())
}

/// In seconds, with as many digits as needed. The last bucket has no bound.
fn bound(end: Duration) -> String {
    if end == Duration::from_nanos(u64::MAX) {
        return "+Inf".to_owned();
    }
    let digits = format!("{}.{:09}", end.as_secs(), end.subsec_nanos());
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_exact_and_short() {
        let bounds = [112, 100_000, 1_000_000_000, 60_129_542_144, u64::MAX].map(Duration::from_nanos).map(bound);
        assert_eq!(bounds, ["0.000000112", "0.0001", "1", "60.129542144", "+Inf"]);
    }
}
