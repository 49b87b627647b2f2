//! What a runtime measures, and the histograms of a processor.

use std::time::{Duration, Instant};

use super::histogram::{Histogram, HistogramConfiguration, HistogramScale};
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;

/// Of so many schedulings one is measured, unless the builder says otherwise.
const SAMPLE: u32 = 8;

/// What the builder sets.
#[derive(Clone, Debug)]
pub(crate) struct HistogramSettings {
    pub(crate) measures_polls: bool,
    pub(crate) of_polls: HistogramConfiguration,
    /// What the old settings of poll times have set, in parts.
    pub(crate) scaled: Scaled,
    pub(crate) measures_latencies: bool,
    /// Hooks are told the latencies.
    pub(crate) tells_latencies: bool,
    pub(crate) of_latencies: HistogramConfiguration,
    /// Of so many schedulings one is measured.
    pub(crate) sample: u32,
}

/// The parts of a histogram as tokio's old settings name them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scaled {
    pub(crate) scale: HistogramScale,
    pub(crate) resolution: Duration,
    pub(crate) buckets: usize,
}

impl Default for Scaled {
    fn default() -> Self {
        Scaled { scale: HistogramScale::Linear, resolution: Duration::from_micros(100), buckets: 10 }
    }
}

impl Default for HistogramSettings {
    fn default() -> Self {
        HistogramSettings {
            measures_polls: false,
            of_polls: HistogramConfiguration::default(),
            scaled: Scaled::default(),
            measures_latencies: false,
            tells_latencies: false,
            of_latencies: HistogramConfiguration::default(),
            sample: SAMPLE,
        }
    }
}

/// The histograms of one processor.
#[derive(Debug)]
pub(crate) struct Histograms {
    pub(crate) polls: Option<Box<PollTimes>>,
    pub(crate) latencies: Option<Box<Histogram>>,
}

impl Histograms {
    pub(crate) fn new(settings: &HistogramSettings) -> Histograms {
        let polls = || Box::new(PollTimes::new(&settings.of_polls));
        let latencies = || Box::new(Histogram::new(&settings.of_latencies));
        Histograms {
            polls: settings.measures_polls.then(polls),
            latencies: settings.measures_latencies.then(latencies),
        }
    }
}

/// What is measured, and when.
#[derive(Debug)]
pub(crate) struct Measuring {
    pub(crate) polls: bool,
    pub(crate) latencies: bool,
    has_hooks: bool,
    /// Of so many schedulings one is measured; 0: none is.
    sample: u32,
    epoch: Instant,
}

/// 2^32 divided by the golden ratio: the multiples, modulo 2^32, are spread evenly.
const STEP: u32 = 0x9e37_79b9;

impl Measuring {
    /// Hooks are told each latency.
    pub(crate) fn new(settings: &HistogramSettings, has_hooks: bool) -> Measuring {
        let sample = match (settings.measures_latencies, settings.tells_latencies, has_hooks) {
            (true, _, true) | (_, true, true) => 1,
            (true, _, false) => settings.sample,
            (false, ..) => 0,
        };
        let (polls, latencies) = (settings.measures_polls, settings.measures_latencies);
        Measuring { polls, latencies, has_hooks, sample, epoch: Instant::now() }
    }

    /// Whether anything is measured at a poll, or a hook may be called.
    pub(crate) fn is_any(&self) -> bool {
        self.polls || self.latencies || self.has_hooks
    }

    /// The number before a machine's first scheduling, if any are measured. Not the same for all: a
    /// machine may have few.
    pub(crate) fn first_number(&self) -> Option<u32> {
        (self.sample > 0).then(|| self.now() as u32)
    }

    /// Whether the scheduling with number `n` is measured. The distances between those that are
    /// vary, so that a program with a rhythm of its own is measured fairly.
    pub(crate) fn is_sampled(&self, n: u32) -> bool {
        self.sample > 0 && n.wrapping_mul(STEP) <= u32::MAX / self.sample
    }

    /// In nanoseconds, from some moment before any task was scheduled.
    pub(crate) fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }
}

/// How long the polls of a processor took.
#[derive(Debug)]
pub(crate) struct PollTimes {
    pub(super) histogram: Histogram,
    /// The moving average in sixteenths of a nanosecond; 0: there was no poll yet. If two threads
    /// write at once, one poll is missing in the average.
    mean: AtomicU64,
}

/// The weight of a poll in the moving average is one part in so many.
const WEIGHT: u64 = 16;

impl PollTimes {
    fn new(configuration: &HistogramConfiguration) -> PollTimes {
        PollTimes { histogram: Histogram::new(configuration), mean: AtomicU64::new(0) }
    }

    pub(crate) fn record(&self, nanoseconds: u64) {
        self.histogram.record(nanoseconds);
        let mean = self.mean.load(Relaxed);
        let next = if mean == 0 { nanoseconds.saturating_mul(WEIGHT) } else { mean - mean / WEIGHT + nanoseconds };
        self.mean.store(next, Relaxed);
    }

    /// In nanoseconds.
    pub(super) fn mean(&self) -> u64 {
        self.mean.load(Relaxed) / WEIGHT
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn one_of_so_many_schedulings_is_sampled_in_any_rhythm() {
        for sample in [1, 2, 8, 100] {
            let settings = HistogramSettings { measures_latencies: true, sample, ..HistogramSettings::default() };
            let measuring = Measuring::new(&settings, false);
            for rhythm in [1, 2, 7, 8, 13, 100] {
                let sampled = (0..100_000).filter(|n| measuring.is_sampled(n * rhythm)).count();
                let expected = 100_000 / sample as usize;
                assert!(sampled.abs_diff(expected) < 200, "{sampled} of {expected}, each {rhythm}th");
            }
        }
        assert!(!Measuring::new(&HistogramSettings::default(), true).is_sampled(0));
    }

    #[test]
    fn the_mean_follows_the_polls() {
        let times = PollTimes::new(&HistogramConfiguration::default());
        assert_eq!(times.mean(), 0);
        times.record(1_000);
        assert_eq!(times.mean(), 1_000, "the first poll is the mean");
        times.record(17_000);
        assert_eq!(times.mean(), 2_000, "a sixteenth of the difference");
        (0..1_000).for_each(|_| times.record(50));
        assert!((50..=51).contains(&times.mean()), "{} ns", times.mean());
    }
}
