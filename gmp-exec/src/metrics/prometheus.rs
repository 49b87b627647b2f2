//! The counters in Prometheus' text format.

use std::fmt::{self, Write};

use gmp_insight::prometheus::Page;

use super::RuntimeMetrics;
use super::histogram::Histogram;
use crate::blocked::BlockedCause;

impl RuntimeMetrics {
    /// Writes all counters, and the histograms that are enabled, in Prometheus' [text
    /// format](https://prometheus.io/docs/instrumenting/exposition_formats/), version 0.0.4.
    ///
    /// The counters of one worker have a label `worker`, so that a query can sum them. Times are in
    /// seconds. The text does not contain the runtime's name, so with several runtimes each needs
    /// its own endpoint.
    ///
    /// # Errors
    ///
    /// Fails if writing to `out` fails, which never happens with a `String`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
    /// let mut text = String::new();
    /// runtime.metrics().prometheus(&mut text).unwrap();
    /// assert!(text.contains("\ngmp_workers 2\n"));
    /// assert!(text.contains("\ngmp_worker_polls_total{worker=\"1\"} 0\n"));
    /// ```
    pub fn prometheus(&self, out: &mut impl Write) -> fmt::Result {
        let mut page = Page::new(out);
        self.gauges(&mut page)?;
        self.counters(&mut page)?;
        self.blocked(&mut page)?;
        self.by_worker(&mut page)?;
        self.histograms(&mut page)
    }

    fn gauges(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
        page.gauge("gmp_workers", "Processors.", self.num_workers())?;
        page.gauge("gmp_max_procs", "Tasks that may run at a time.", self.max_procs())?;
        page.gauge("gmp_idle_workers", "Processors that have nothing to do.", self.num_idle_workers())?;
        page.gauge("gmp_machines", "Threads that run tasks, or may.", self.num_machines())?;
        page.gauge("gmp_idle_machines", "Such threads that have nothing to do.", self.num_idle_machines())?;
        page.gauge("gmp_spinning_machines", "Such threads that look for work.", self.num_spinning_machines())?;
        page.gauge("gmp_hogs", "Threads that compute without a processor.", self.num_hogs())?;
        page.gauge("gmp_blocking_threads", "Threads for blocking closures.", self.num_blocking_threads())?;
        let idle = self.num_idle_blocking_threads();
        page.gauge("gmp_idle_blocking_threads", "Threads for blocking closures that have none to run.", idle)?;
        page.gauge("gmp_blocking_queue_depth", "Blocking closures that wait.", self.blocking_queue_depth())?;
        page.gauge("gmp_alive_tasks", "Tasks whose future exists.", self.num_alive_tasks())?;
        page.gauge("gmp_global_queue_depth", "Tasks in the global queue.", self.global_queue_depth())?;
        let longest = self.longest_poll().as_secs_f64();
        page.gauge("gmp_longest_poll_seconds", "The longest poll beyond the threshold.", longest)
    }

    fn counters(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
        page.counter("gmp_spawned_tasks_total", "Tasks that were spawned.", self.spawned_tasks_count())?;
        let help = "Tasks that were queued by other threads than the runtime's.";
        page.counter("gmp_remote_schedules_total", help, self.remote_schedule_count())?;
        let help = "Changes of the number of processors.";
        page.counter("gmp_max_procs_changes_total", help, self.max_procs_changes())?;
        let help = "Periods in which the kernel stopped the process because its CPU quota was used up.";
        page.counter("gmp_cpu_throttled_periods_total", help, self.cpu_throttled_periods())?;
        let help = "How long it was stopped, summed over the CPUs.";
        page.counter("gmp_cpu_throttled_seconds_total", help, self.cpu_throttled_duration().as_secs_f64())?;
        let help = "Polls that had used up their budget.";
        page.counter("gmp_budget_forced_yields_total", help, self.budget_forced_yield_count())?;
        let help = "Descriptors that were registered with the reactor.";
        page.counter("gmp_io_registered_total", help, self.io_driver_fd_registered_count())?;
        let help = "Descriptors that were removed from the reactor.";
        page.counter("gmp_io_deregistered_total", help, self.io_driver_fd_deregistered_count())?;
        let help = "Times the reactor has seen a descriptor become ready.";
        page.counter("gmp_io_ready_total", help, self.io_driver_ready_count())
    }

    /// Polls that have held their threads, as in `Handle::blocked_report`.
    fn blocked(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
        const POLLS: &str = "gmp_blocked_polls_total";
        const SECONDS: &str = "gmp_blocked_seconds_total";
        let totals = VERDICTS.map(|(cause, verdict)| (self.scheduler.observers.blocked.totals(cause), verdict));
        page.family(POLLS, "counter", "Polls that held their threads and are over, by what these did.")?;
        for ((count, _), verdict) in totals {
            page.sample(POLLS, &format!("{{verdict=\"{verdict}\"}}"), count)?;
        }
        page.family(SECONDS, "counter", "How long such polls were.")?;
        for ((_, sum), verdict) in totals {
            page.sample(SECONDS, &format!("{{verdict=\"{verdict}\"}}"), sum.as_secs_f64())?;
        }
        Ok(())
    }

    fn by_worker(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
        let depth = |worker| self.worker_local_queue_depth(worker);
        self.each_worker(page, "gmp_worker_local_queue_depth", "gauge", "Tasks in the processor's queue.", depth)?;
        let busy = |worker| self.worker_total_busy_duration(worker).as_secs_f64();
        self.each_worker(page, "gmp_worker_busy_seconds_total", "counter", "Time held by machines.", busy)?;
        for (name, help, count) in COUNTERS {
            self.each_worker(page, name, "counter", help, |worker| count(self, worker))?;
        }
        self.taken(page)
    }

    fn each_worker<V: fmt::Display>(
        &self,
        page: &mut Page<'_, impl Write>,
        name: &str,
        kind: &str,
        help: &str,
        value: impl Fn(usize) -> V,
    ) -> fmt::Result {
        page.family(name, kind, help)?;
        (0..self.num_workers())
            .try_for_each(|worker| page.sample(name, &format!("{{worker=\"{worker}\"}}"), value(worker)))
    }

    fn taken(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
        const NAME: &str = "gmp_worker_taken_total";
        page.family(NAME, "counter", "Takes of the processor from a stuck poll, by what its thread did.")?;
        for worker in 0..self.num_workers() {
            let (blocked, computing) =
                (self.worker_taken_from_blocked_count(worker), self.worker_taken_from_computing_count(worker));
            page.sample(NAME, &format!("{{worker=\"{worker}\",verdict=\"blocked\"}}"), blocked)?;
            page.sample(NAME, &format!("{{worker=\"{worker}\",verdict=\"computing\"}}"), computing)?;
        }
        Ok(())
    }

    fn histograms(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
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
        let buckets = (0..histogram.buckets()).map(|bucket| (histogram.range(bucket).end, histogram.count(bucket)));
        page.histogram(name, worker, buckets, histogram.sum())?;
    }
    Ok(())
}

/// The name of a counter, its help text, and the function that reads it.
type WorkerCounter = (&'static str, &'static str, fn(&RuntimeMetrics, usize) -> u64);

const COUNTERS: [WorkerCounter; 8] = [
    ("gmp_worker_polls_total", "Polls.", RuntimeMetrics::worker_poll_count),
    ("gmp_worker_parks_total", "Times the processor had nothing to do.", RuntimeMetrics::worker_park_count),
    ("gmp_worker_noops_total", "Such times without a poll in between.", RuntimeMetrics::worker_noop_count),
    ("gmp_worker_local_schedules_total", "Tasks queued by its thread.", RuntimeMetrics::worker_local_schedule_count),
    ("gmp_worker_steal_attempts_total", "Searches at other processors.", RuntimeMetrics::worker_steal_attempts),
    ("gmp_worker_steals_total", "Such searches that found tasks.", RuntimeMetrics::worker_steal_operations),
    ("gmp_worker_stolen_tasks_total", "Tasks found by them.", RuntimeMetrics::worker_steal_count),
    ("gmp_worker_overflows_total", "Times the queue was full.", RuntimeMetrics::worker_overflow_count),
];

/// What a thread did that a poll held for long, and the label's value.
const VERDICTS: [(BlockedCause, &str); 3] =
    [(BlockedCause::Blocked, "blocked"), (BlockedCause::Computing, "computing"), (BlockedCause::Starved, "starved")];
