//! The settings of the runtime's threads: names, stacks, and the functions they call.

use std::time::Duration;

use crate::runtime::Builder;
use crate::sync::Arc;

/// # Threads
impl Builder {
    /// Sets the name of the runtime's threads; default `gmp-machine`, in the drop-in
    /// `tokio-rt-worker`.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().thread_name("worker").build().unwrap();
    /// let name = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert_eq!(runtime.block_on(name).unwrap().as_deref(), Some("worker"));
    /// ```
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        self.thread_name_fn(move || name.clone())
    }

    /// Sets a function that is called for the name of each new thread. If the function panics, the
    /// thread has the default name.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let threads = AtomicUsize::new(0);
    /// let runtime = Builder::new_multi_thread()
    ///     .thread_name_fn(move || format!("worker-{}", threads.fetch_add(1, Ordering::Relaxed)))
    ///     .build()
    ///     .unwrap();
    /// let name = runtime.spawn(async { std::thread::current().name().map(str::to_owned) });
    /// assert!(runtime.block_on(name).unwrap().unwrap().starts_with("worker-"));
    /// ```
    pub fn thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.thread_name = Arc::new(name);
        self
    }

    /// Sets the stack size of the runtime's threads, in bytes. Default: the standard library's (2
    /// MiB, or `RUST_MIN_STACK`).
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    ///
    /// fn depth(n: u32) -> u32 {
    ///     let frame = std::hint::black_box([0_u8; 1024]);
    ///     if n == 0 { u32::from(frame[0]) } else { 1 + depth(n - 1) }
    /// }
    ///
    /// let runtime = Builder::new_multi_thread().thread_stack_size(64 << 20).build().unwrap();
    /// let deep = runtime.spawn(async { depth(10_000) });
    /// assert_eq!(runtime.block_on(deep).unwrap(), 10_000);
    /// ```
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.thread_stack_size = Some(bytes);
        self
    }

    /// Sets how long a surplus thread waits for work before it ends; default 10 s.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .thread_keep_alive(Duration::from_millis(10))
    ///     .build()
    ///     .unwrap();
    /// let closures: Vec<_> = (0..4)
    ///     .map(|_| runtime.spawn_blocking(|| std::thread::sleep(Duration::from_millis(5))))
    ///     .collect();
    /// for closure in closures {
    ///     runtime.block_on(closure).unwrap();
    /// }
    /// // The surplus threads end after 10 ms without work.
    /// while runtime.metrics().num_blocking_threads() > 0 {
    ///     std::thread::sleep(Duration::from_millis(1));
    /// }
    /// ```
    pub fn thread_keep_alive(&mut self, limit: Duration) -> &mut Self {
        self.thread_keep_alive = limit;
        self
    }

    /// Sets a function that each of the runtime's threads calls when it starts.
    ///
    /// A panic in this function, or in one of the three below, is reported by the panic hook; the
    /// thread goes on.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static STARTED: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_thread_start(|| { STARTED.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert!(STARTED.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn on_thread_start<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_start = Some(Arc::new(f));
        self
    }

    /// Sets a function that each of the runtime's threads calls before it ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static STOPPED: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_thread_stop(|| { STOPPED.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// drop(runtime);
    /// assert!(STOPPED.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn on_thread_stop<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_stop = Some(Arc::new(f));
        self
    }

    /// Sets a function that a thread calls before it sleeps for lack of work.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, time};
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static PARKED: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_time()
    ///     .on_thread_park(|| { PARKED.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(async { time::sleep(time::Duration::from_millis(5)).await });
    /// assert!(PARKED.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn on_thread_park<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_park = Some(Arc::new(f));
        self
    }

    /// Sets a function that a thread calls after such a sleep.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_exec::{runtime::Builder, time};
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// static WOKEN: AtomicUsize = AtomicUsize::new(0);
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_time()
    ///     .on_thread_unpark(|| { WOKEN.fetch_add(1, Ordering::Relaxed); })
    ///     .build()
    ///     .unwrap();
    /// runtime.block_on(async { time::sleep(time::Duration::from_millis(5)).await });
    /// assert!(WOKEN.load(Ordering::Relaxed) > 0);
    /// ```
    pub fn on_thread_unpark<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.hooks.on_unpark = Some(Arc::new(f));
        self
    }
}
