//! Whether a server still performs after an hour as it did at first.
//!
//! A single minute proves nothing: a neighbour on the machine costs more than a drift. So quarters
//! are compared: by their medians for values that may be noisy in a minute, by their maximum for
//! the others.

use gmp_benches::measure::Samples;

use crate::minutes::Minute;

/// A value that may not grow, and its tolerance: a factor of the first quarter's value, and an
/// amount on top.
struct Rule {
    what: &'static str,
    value: fn(&Minute) -> f64,
    of_quarter: fn(Vec<f64>) -> f64,
    times: f64,
    plus: f64,
}

const RULES: [Rule; 5] = [
    Rule { what: "p50 in ms", value: |minute| minute.p50, of_quarter: median, times: 1.25, plus: 0.05 },
    Rule { what: "p99 in ms", value: |minute| minute.p99, of_quarter: median, times: 1.5, plus: 0.5 },
    // In the 45 minutes between the quarters of an hour, at 900 requests per second, that is less
    // than two bytes per request.
    Rule { what: "RSS in MiB", value: |minute| mib(minute.rss), of_quarter: median, times: 1.0, plus: 4.0 },
    // Two more handlers may once happen to block at the same time.
    Rule { what: "threads", value: |minute| minute.threads as f64, of_quarter: most, times: 1.0, plus: 2.0 },
    Rule { what: "descriptors", value: |minute| minute.descriptors as f64, of_quarter: most, times: 1.0, plus: 0.0 },
];

/// Describes in words what has drifted.
pub(crate) fn drift(minutes: &[Minute]) -> Vec<String> {
    let quarter = minutes.len().div_ceil(4);
    let (first, last) = (&minutes[..quarter], &minutes[minutes.len() - quarter..]);
    RULES.iter().filter_map(|rule| rule.broken(first, last)).collect()
}

impl Rule {
    fn broken(&self, first: &[Minute], last: &[Minute]) -> Option<String> {
        let [before, after] = [first, last].map(|quarter| (self.of_quarter)(quarter.iter().map(self.value).collect()));
        let allowed = before * self.times + self.plus;
        (after > allowed).then(|| {
            let what = self.what;
            format!("{what}: {before:.2} in the first quarter, {after:.2} in the last one, {allowed:.2} are allowed")
        })
    }
}

fn median(values: Vec<f64>) -> f64 {
    Samples::new(values).median()
}

fn most(values: Vec<f64>) -> f64 {
    Samples::new(values).max()
}

pub(crate) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual() -> Minute {
        let (rss, threads, descriptors) = (10 << 20, 9, 200);
        Minute { requests: 51_300, p50: 0.1, p99: 0.4, rss, threads, descriptors, ..Minute::default() }
    }

    fn hour(change: impl Fn(u32, &mut Minute)) -> Vec<Minute> {
        let minute = |number| {
            let mut minute = usual();
            change(number, &mut minute);
            minute
        };
        (0..60).map(minute).collect()
    }

    #[test]
    fn what_grows_over_an_hour_is_a_drift_be_it_a_descriptor_and_a_slow_minute_is_none() {
        let said = |change: fn(u32, &mut Minute)| drift(&hour(change)).join("; ");
        assert_eq!(said(|number, minute| minute.p99 += f64::from(number % 10 / 9) * 50.0), "");
        let latency = said(|number, minute| minute.p99 += f64::from(number) * 0.05);
        assert_eq!(latency, "p99 in ms: 0.75 in the first quarter, 3.00 in the last one, 1.62 are allowed");
        let two_bytes_a_request = said(|number, minute| minute.rss += u64::from(number) * minute.requests * 2);
        assert!(two_bytes_a_request.starts_with("RSS in MiB: 10.68"), "{two_bytes_a_request}");
        assert_eq!(two_bytes_a_request.matches("; ").count(), 0, "{two_bytes_a_request}");
        let descriptor_and_threads = said(|number, minute| {
            minute.descriptors += usize::from(number > 50);
            minute.threads += 3 * u64::from(number > 50);
        });
        assert_eq!(descriptor_and_threads.matches("; ").count(), 1, "{descriptor_and_threads}");
    }
}
