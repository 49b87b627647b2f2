//! A host: a thread with a runtime of its own, which can be ended at any moment and started again.

use std::fmt;
use std::future::{Future, poll_fn};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::*;
use std::task::Poll;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::runtime;
use tokio::sync::oneshot;

use crate::engine;

type Program = Arc<dyn Fn(oneshot::Receiver<()>) + Send + Sync>;

/// A computer of a test, with an address, a name and a clock of its own.
///
/// What [`start`](Host::start) is given runs on a thread of the host's, on a current-thread runtime with all
/// drivers. Tasks that it spawns, and threads that it starts, belong to the host, too. They bind to its
/// [`ip`](Host::ip), to 0.0.0.0 or to 127.0.0.1, which in a seeded run is each host's own.
///
/// In a seeded run, other hosts find it by its name, as in `TcpStream::connect("server:80")`.
///
/// # Panics
///
/// Dropping a host crashes it. If its future has panicked by then, the panic goes on in the thread that
/// drops the host, so that a test fails.
pub struct Host {
    name: String,
    number: Option<engine::Number>,
    ip: Ipv4Addr,
    program: Option<Program>,
    running: Option<Running>,
}

struct Running {
    /// Sent or dropped: the host crashes.
    crash: oneshot::Sender<()>,
    /// The runtime has ended, with all tasks.
    ended: oneshot::Receiver<()>,
    thread: JoinHandle<()>,
}

/// A host of this name that runs this: [`Host::new`] and [`Host::start`].
///
/// # Panics
///
/// Panics if the operating system can't start a thread.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut host = gmp_sim::host("a", || async { assert_eq!(1 + 1, 2) });
/// host.finished().await;
/// # }
/// ```
pub fn host<F, Fut>(name: impl Into<String>, program: F) -> Host
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ()> + 'static,
{
    let mut host = Host::new(name);
    host.start(program);
    host
}

impl Host {
    /// A host that runs nothing yet, so that others can be given its address.
    ///
    /// ```
    /// let host = gmp_sim::Host::new("server");
    /// assert!(host.ip().is_loopback());
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>) -> Host {
        let name = name.into();
        let number = engine::open(&name);
        let ip = number.and_then(engine::address).unwrap_or_else(real_address);
        Host { name, number, ip, program: None, running: None }
    }

    /// The name that was given to the host.
    ///
    /// ```
    /// assert_eq!(gmp_sim::Host::new("server").name(), "server");
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address of the host, a loopback address: 127.1.0.2 for the first host of a seeded run, and so on.
    ///
    /// ```
    /// assert!(gmp_sim::Host::new("server").ip().is_loopback());
    /// ```
    #[must_use]
    pub fn ip(&self) -> Ipv4Addr {
        self.ip
    }

    /// Runs this on the host. [`restart`](Host::restart) calls the closure again.
    ///
    /// The host ends when the future is ready. Tasks that are left are dropped, as at the end of a runtime.
    ///
    /// # Panics
    ///
    /// Panics if the host is running, or if the operating system can't start a thread.
    ///
    /// ```
    /// use tokio::sync::mpsc;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let (sender, mut receiver) = mpsc::channel(1);
    /// let mut host = gmp_sim::Host::new("a");
    /// host.start(move || {
    ///     let sender = sender.clone();
    ///     async move { sender.send(5).await.unwrap() }
    /// });
    /// assert_eq!(receiver.recv().await, Some(5));
    /// # }
    /// ```
    pub fn start<F, Fut>(&mut self, program: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + 'static,
    {
        self.run(Arc::new(move |crash| run_until_crash(&program, crash)));
    }

    /// The host loses its power: all its tasks are dropped, wherever they wait, and its sockets are closed.
    ///
    /// In a seeded run the other hosts are not told. What they send to it is lost as in a
    /// [`partition`](crate::partition), until it starts again and answers that it knows no such connection
    /// (`ConnectionReset`). Without a seed, the kernel closes the connections.
    ///
    /// Nothing happens if the host does not run. A closure of `spawn_blocking` that has begun can't be
    /// stopped: it goes on, with its sockets.
    ///
    /// # Panics
    ///
    /// If the future of the host has panicked, the panic goes on here.
    ///
    /// # Cancel safety
    ///
    /// The host crashes at the first poll. A second call waits for the end of its tasks.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut host = gmp_sim::host("a", || std::future::pending());
    /// host.crash().await;
    /// # }
    /// ```
    pub async fn crash(&mut self) {
        engine::set_power(self.number, false);
        if let Some(running) = &mut self.running {
            let (unused, _) = oneshot::channel();
            let _ = std::mem::replace(&mut running.crash, unused).send(());
        }
        self.finished().await;
    }

    /// Starts the host after a [`crash`](Host::crash), or after its end, with the same closure.
    ///
    /// # Panics
    ///
    /// Panics if the host was never started, or is running, or if the operating system can't start a thread.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut host = gmp_sim::host("a", || async {});
    /// host.crash().await;
    /// host.restart();
    /// host.finished().await;
    /// # }
    /// ```
    pub fn restart(&mut self) {
        let program = self.program.clone();
        self.run(program.unwrap_or_else(|| panic!("the host {:?} was never started", self.name)));
    }

    /// Waits until the future of the host is ready, and its runtime has ended. Does not wait if the host does
    /// not run.
    ///
    /// # Panics
    ///
    /// If the future has panicked, the panic goes on here.
    ///
    /// # Cancel safety
    ///
    /// The host goes on if this is dropped, and can be waited for again.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// gmp_sim::host("a", || async {}).finished().await;
    /// # }
    /// ```
    pub async fn finished(&mut self) {
        let Some(running) = &mut self.running else { return };
        // An error: a panic has dropped the sender.
        let _ = (&mut running.ended).await;
        if let Some(running) = self.running.take() {
            running.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }

    /// The date on this host is so much later than on the others. Timers are not affected, nor is `Instant`.
    ///
    /// Does nothing without a seed. More than 292 years are 292 years.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// gmp_sim::Host::new("a").set_clock_ahead(Duration::from_secs(2));
    /// ```
    pub fn set_clock_ahead(&self, by: Duration) {
        engine::set_clock(self.number, nanoseconds(by));
    }

    /// The date on this host is so much earlier than on the others. As
    /// [`set_clock_ahead`](Host::set_clock_ahead).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// gmp_sim::Host::new("a").set_clock_behind(Duration::from_secs(2));
    /// ```
    pub fn set_clock_behind(&self, by: Duration) {
        engine::set_clock(self.number, -nanoseconds(by));
    }

    pub(crate) fn number(&self) -> Option<engine::Number> {
        self.number
    }

    fn run(&mut self, program: Program) {
        assert!(self.running.is_none(), "the host {:?} is running", self.name);
        engine::set_power(self.number, true);
        self.program = Some(program.clone());
        let (crash, crashes) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let number = self.number;
        let thread = thread::Builder::new().name(self.name.replace('\0', "?")).spawn(move || {
            engine::enter(number);
            program(crashes);
            let _ = end.send(());
        });
        let thread = thread.unwrap_or_else(|error| panic!("no thread for the host {:?}: {error}", self.name));
        self.running = Some(Running { crash, ended, thread });
    }
}

fn run_until_crash<Fut: Future<Output = ()>>(program: &impl Fn() -> Fut, crash: oneshot::Receiver<()>) {
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.unwrap_or_else(|error| panic!("no runtime for a host: {error}"));
    runtime.block_on(async {
        let (mut crash, mut future) = (pin!(crash), pin!(program()));
        poll_fn(|context| match crash.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => future.as_mut().poll(context),
        })
        .await;
    });
    // A closure of the program's may never end.
    runtime.shutdown_background();
}

fn nanoseconds(time: Duration) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}

/// A loopback address, most probably another one than those of other processes.
fn real_address() -> Ipv4Addr {
    static HOSTS: AtomicU32 = AtomicU32::new(0);
    let [.., high, low] = std::process::id().to_be_bytes();
    // 1 to 254: the last part of an address is no other number here.
    let host = HOSTS.fetch_add(1, Relaxed) % 254 + 1;
    Ipv4Addr::new(127, 64 | high, low, host as u8)
}

impl Drop for Host {
    fn drop(&mut self) {
        engine::set_power(self.number, false);
        let Some(Running { crash, thread, .. }) = self.running.take() else { return };
        drop(crash);
        if thread.is_finished() && !thread::panicking() {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Host { name, ip, running, .. } = self;
        f.debug_struct("Host").field("name", name).field("ip", ip).field("is_running", &running.is_some()).finish()
    }
}
