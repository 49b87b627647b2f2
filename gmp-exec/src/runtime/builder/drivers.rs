//! The settings of the network and of timers.

use crate::runtime::Builder;

/// # Network and timers
impl Builder {
    /// Enables I/O and timers.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    /// assert!(runtime.handle().is_io_enabled());
    /// ```
    pub fn enable_all(&mut self) -> &mut Self {
        self.enable_io().enable_time()
    }

    /// Enables I/O: reactors may be installed.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().enable_io().build().unwrap();
    /// assert!(runtime.handle().is_io_enabled());
    /// ```
    pub fn enable_io(&mut self) -> &mut Self {
        self.enable_io = true;
        self
    }

    /// Enables timers.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, time};
    ///
    /// let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    /// // Without `enable_time` the sleep would panic.
    /// runtime.block_on(async { time::sleep(time::Duration::from_millis(1)).await });
    /// ```
    pub fn enable_time(&mut self) -> &mut Self {
        self.enable_time = true;
        self
    }

    /// Starts the runtime with a paused clock; see [`time::pause`](crate::time::pause). Only for
    /// the current-thread flavour.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, time};
    ///
    /// let runtime =
    ///     Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     let start = time::Instant::now();
    ///     time::sleep(time::Duration::from_secs(3600)).await; // takes no time
    ///     assert_eq!(start.elapsed(), time::Duration::from_secs(3600));
    /// });
    /// ```
    pub fn start_paused(&mut self, paused: bool) -> &mut Self {
        self.start_paused = paused;
        self
    }

    /// Sets how many ready descriptors one poll of the network reports at most; the next poll
    /// reports the others. At least 1; default 1024.
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().max_io_events_per_tick(64).build().unwrap();
    /// assert_eq!(runtime.handle().max_io_events(), (64, 64));
    /// ```
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "max_io_events_per_tick must be non-zero");
        self.io_events.per_tick = count;
        self
    }

    /// Sets the same limit for polls of the network by a processor that has tasks to run. Default:
    /// the value of [`max_io_events_per_tick`](Self::max_io_events_per_tick).
    ///
    /// # Panics
    ///
    /// Panics if `count` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().max_io_events_per_busy_tick(16).build().unwrap();
    /// assert_eq!(runtime.handle().max_io_events(), (1024, 16));
    /// ```
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, count: usize) -> &mut Self {
        assert!(count > 0, "max_io_events_per_busy_tick must be non-zero");
        self.io_events.per_busy_tick = Some(count);
        self
    }
}
