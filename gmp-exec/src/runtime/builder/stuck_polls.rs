//! The settings that decide when a poll holds its processor for too long.

use std::time::Duration;

use crate::runtime::Builder;

/// # Polls that block or compute
impl Builder {
    /// Sets how long a poll may compute while other work waits for its processor. From 100 µs to 1
    /// h; default 10 ms, Go's time slice. If no processor has begun a turn for a fifth of the
    /// threshold, and work waits that any of them could do, the scheduler takes one of them already
    /// then.
    ///
    /// The threshold does not apply to a poll whose thread sleeps in the kernel: its processor is
    /// taken as soon as sysmon has seen the thread asleep, usually after some ten microseconds.
    /// Where the kernel does not tell what a thread does (no /proc), the threshold applies to such
    /// polls, too.
    ///
    /// sysmon looks when a machine calls it, and otherwise four times per threshold, but at least
    /// every 2.5 ms.
    ///
    /// # Panics
    ///
    /// Panics if `threshold` is out of range.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .blocking_threshold(Duration::from_millis(1))
    ///     .build()
    ///     .unwrap();
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// // Holds the only processor until the next task has run. On tokio, this would never end.
    /// let stuck = runtime.spawn(async move { receiver.recv().unwrap() });
    /// runtime.spawn(async move { sender.send(42).unwrap() });
    /// assert_eq!(runtime.block_on(stuck).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn blocking_threshold(&mut self, threshold: Duration) -> &mut Self {
        let range = Duration::from_micros(100)..=Duration::from_secs(3600);
        assert!(
            range.contains(&threshold),
            "blocking_threshold must be from {:?} to {:?}, not {threshold:?}",
            range.start(),
            range.end()
        );
        self.blocking_threshold = threshold;
        self
    }

    /// Switches the monitor thread on or off; default on. Without the monitor no processor is taken
    /// from a stuck poll, and new threads inherit from the thread that happens to start them, a poll's
    /// or a closure's perhaps.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// // For programs whose tasks never block: one thread less.
    /// let runtime = Builder::new_multi_thread().sysmon(false).build().unwrap();
    /// assert_eq!(runtime.block_on(runtime.spawn(async { 42 })).unwrap(), 42);
    /// ```
    pub fn sysmon(&mut self, on: bool) -> &mut Self {
        self.sysmon = on;
        self
    }

    /// Lets [`Handle::blocked_report`](crate::runtime::Handle::blocked_report) find tasks that hold
    /// the thread of a current-thread runtime; default off, and on if `GMP_BLOCKED` asks for
    /// output.
    ///
    /// Such a runtime has no sysmon otherwise. It then watches the thread that drives the runtime,
    /// and reports each poll that lasts for longer than
    /// [`blocking_threshold`](Self::blocking_threshold), of tasks and of the future given to
    /// `block_on`. It looks four times per threshold while the runtime has something to do, and
    /// sleeps otherwise. It only watches: nothing else can run on the thread meanwhile. No effect
    /// on a multi-thread runtime.
    ///
    /// [`task::blocking`](crate::task::blocking) declares nothing here: it only calls its closure
    /// on this flavour, and other tasks wait for the closure.
    ///
    /// A poll of a task of a [`LocalSet`](crate::task::LocalSet) or a
    /// [`LocalRuntime`](crate::runtime::LocalRuntime) that was spawned by `spawn_local` counts by
    /// itself, and not as part of the future that runs the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::{Duration, Instant};
    ///
    /// let runtime = Builder::new_current_thread().watch_current_thread(true).build().unwrap();
    /// runtime.block_on(async { std::thread::sleep(Duration::from_millis(300)) });
    ///
    /// let start = Instant::now();
    /// while runtime.handle().blocked_report().entries.is_empty() && start.elapsed().as_secs() < 60 {
    ///     std::thread::sleep(Duration::from_millis(1));
    /// }
    /// let report = runtime.handle().blocked_report();
    /// assert!(report.entries[0].is_root);
    /// print!("{report}");
    /// // blocked 1x, 299 ms in all, longest 299 ms: future of block_on at src/main.rs:5, in clock_nanosleep
    /// ```
    pub fn watch_current_thread(&mut self, on: bool) -> &mut Self {
        self.watch_current_thread = on;
        self
    }
}
