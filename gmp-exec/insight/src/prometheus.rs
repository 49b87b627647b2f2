//! Prometheus' [text format], version 0.0.4.
//!
//! [text format]: https://prometheus.io/docs/instrumenting/exposition_formats/

use std::fmt::{self, Write};
use std::time::Duration;

/// A page of metrics.
#[derive(Debug)]
pub struct Page<'a, W> {
    out: &'a mut W,
}

impl<'a, W: Write> Page<'a, W> {
    /// Writes to `out`.
    pub fn new(out: &'a mut W) -> Page<'a, W> {
        Page { out }
    }

    /// A number that rises and falls.
    ///
    /// # Errors
    ///
    /// Fails if `out` does.
    pub fn gauge(&mut self, name: &str, help: &str, value: impl fmt::Display) -> fmt::Result {
        self.family(name, "gauge", help)?;
        self.sample(name, "", value)
    }

    /// A number that only grows.
    ///
    /// # Errors
    ///
    /// Fails if `out` does.
    pub fn counter(&mut self, name: &str, help: &str, value: impl fmt::Display) -> fmt::Result {
        self.family(name, "counter", help)?;
        self.sample(name, "", value)
    }

    /// Begins a metric that has several samples.
    ///
    /// # Errors
    ///
    /// Fails if `out` does.
    pub fn family(&mut self, name: &str, kind: &str, help: &str) -> fmt::Result {
        writeln!(self.out, "# HELP {name} {help}\n# TYPE {name} {kind}")
    }

    /// A sample of the metric that was begun. `labels` are in braces, or empty.
    ///
    /// # Errors
    ///
    /// Fails if `out` does.
    pub fn sample(&mut self, name: &str, labels: &str, value: impl fmt::Display) -> fmt::Result {
        writeln!(self.out, "{name}{labels} {value}")
    }

    /// The histogram of a worker, of the metric that was begun: for each bucket its end and how many
    /// durations fell into it, and the sum of all durations. Prometheus' counts add up from bucket
    /// to bucket.
    ///
    /// # Errors
    ///
    /// Fails if `out` does.
    pub fn histogram(
        &mut self,
        name: &str,
        worker: usize,
        buckets: impl Iterator<Item = (Duration, u64)>,
        sum: Duration,
    ) -> fmt::Result {
        let mut count = 0;
        for (end, in_bucket) in buckets {
            count += in_bucket;
            let labels = format!("{{worker=\"{worker}\",le=\"{}\"}}", bound(end));
            self.sample(&format!("{name}_bucket"), &labels, count)?;
        }
        let worker = format!("{{worker=\"{worker}\"}}");
        self.sample(&format!("{name}_sum"), &worker, sum.as_secs_f64())?;
        self.sample(&format!("{name}_count"), &worker, count)
    }
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

    #[test]
    fn counts_add_up_from_bucket_to_bucket() {
        let mut text = String::new();
        let buckets = [(1, 2), (2, 3)].map(|(end, count)| (Duration::from_secs(end), count)).into_iter();
        Page::new(&mut text).histogram("a", 7, buckets, Duration::from_millis(6_500)).unwrap();
        let lines = [
            "a_bucket{worker=\"7\",le=\"1\"} 2",
            "a_bucket{worker=\"7\",le=\"2\"} 5",
            "a_sum{worker=\"7\"} 6.5",
            "a_count{worker=\"7\"} 5",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
    }
}
