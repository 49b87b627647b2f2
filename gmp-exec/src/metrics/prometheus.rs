//! The counters in Prometheus' text format.

use std::fmt::{self, Write};

use super::RuntimeMetrics;

impl RuntimeMetrics {
    /// Writes all counters in Prometheus' [text
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
        let mut page = Page { out };
        self.gauges(&mut page)?;
        self.counters(&mut page)?;
        self.by_worker(&mut page)
    }

    fn gauges(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
        page.gauge("gmp_workers", "Processors.", self.num_workers())?;
        page.gauge("gmp_max_procs", "Tasks that may run at a time.", self.max_procs())?;
        page.gauge("gmp_idle_workers", "Processors that have nothing to do.", self.num_idle_workers())?;
        page.gauge("gmp_machines", "Threads that run tasks, or may.", self.num_machines())?;
        page.gauge("gmp_idle_machines", "Such threads that have nothing to do.", self.num_idle_machines())?;
        page.gauge("gmp_spinning_machines", "Such threads that look for work.", self.num_spinning_machines())?;
        page.gauge("gmp_hogs", "Threads that compute without a processor.", self.num_hogs())?;
        page.gauge("gmp_blocking_threads", "Blocking closures that run.", self.num_blocking_threads())?;
        page.gauge("gmp_blocking_queue_depth", "Blocking closures that wait.", self.blocking_queue_depth())?;
        page.gauge("gmp_alive_tasks", "Tasks whose future exists.", self.num_alive_tasks())?;
        page.gauge("gmp_global_queue_depth", "Tasks in the global queue.", self.global_queue_depth())?;
        let longest = self.longest_poll().as_secs_f64();
        page.gauge("gmp_longest_poll_seconds", "The longest poll beyond the threshold.", longest)
    }

    fn counters(&self, page: &mut Page<'_, impl Write>) -> fmt::Result {
        let help = "Tasks that were queued by other threads than the runtime's.";
        page.family("gmp_remote_schedules_total", "counter", help)?;
        page.sample("gmp_remote_schedules_total", "", self.remote_schedule_count())?;
        page.family("gmp_max_procs_changes_total", "counter", "Changes of the number of processors.")?;
        page.sample("gmp_max_procs_changes_total", "", self.max_procs_changes())
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
            page.sample(NAME, &format!("{{worker=\"{worker}\",cause=\"blocked\"}}"), blocked)?;
            page.sample(NAME, &format!("{{worker=\"{worker}\",cause=\"computing\"}}"), computing)?;
        }
        Ok(())
    }
}

/// The name of a counter, its help text, and the function that reads it.
type WorkerCounter = (&'static str, &'static str, fn(&RuntimeMetrics, usize) -> u64);

const COUNTERS: [WorkerCounter; 5] = [
    ("gmp_worker_polls_total", "Polls.", RuntimeMetrics::worker_poll_count),
    ("gmp_worker_parks_total", "Times the processor had nothing to do.", RuntimeMetrics::worker_park_count),
    ("gmp_worker_steal_operations_total", "Searches at other processors.", RuntimeMetrics::worker_steal_operations),
    ("gmp_worker_steals_total", "Such searches that found tasks.", RuntimeMetrics::worker_steal_count),
    ("gmp_worker_overflows_total", "Times the queue was full.", RuntimeMetrics::worker_overflow_count),
];

struct Page<'a, W> {
    out: &'a mut W,
}

impl<W: Write> Page<'_, W> {
    fn gauge(&mut self, name: &str, help: &str, value: impl fmt::Display) -> fmt::Result {
        self.family(name, "gauge", help)?;
        self.sample(name, "", value)
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) -> fmt::Result {
        writeln!(self.out, "# HELP {name} {help}\n# TYPE {name} {kind}")
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl fmt::Display) -> fmt::Result {
        writeln!(self.out, "{name}{labels} {value}")
    }
}
