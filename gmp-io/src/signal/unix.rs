//! Signals of Unix, kind by kind.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use gmp_exec::task::coop;

pub use super::kind::SignalKind;
use super::listeners::Subscription;
use super::registry::Registry;
use crate::reactor::Reactor;

/// Listens to a kind of signal: the process' [`Signal`]s of this kind from now on.
///
/// The first call for a kind installs a handler, **which stays for the rest of the process** and takes the place of the
/// default action: see [the module](super#what-stays). After that, a signal that came a moment ago and that nobody has been
/// told of yet is seen as well.
///
/// # Errors
///
/// The kind can't be caught: SIGKILL, SIGSTOP, SIGILL, SIGFPE, SIGSEGV, or no kind at all. The system has no descriptors
/// left. The runtime has been shut down.
///
/// # Panics
///
/// If there is no current runtime, or if its I/O is not enabled.
///
/// # Examples
///
/// ```
/// # let runtime = gmp_exec::runtime::Runtime::new()?;
/// # let _guard = runtime.enter();
/// use gmp_io::signal::unix::{SignalKind, signal};
///
/// let kill = SignalKind::from_raw(9);
/// assert_eq!(signal(kill).unwrap_err().to_string(), "Refusing to register signal 9");
/// # std::io::Result::Ok(())
/// ```
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    let reactor = Reactor::current()?;
    check_allowed(kind)?;
    reactor.receive_signals()?;
    let registry = Registry::get()?;
    Ok(Signal { subscription: registry.subscribe(kind.as_raw_value())? })
}

fn check_allowed(kind: SignalKind) -> io::Result<()> {
    let number = kind.as_raw_value();
    if number <= 0 || signal_hook_registry::FORBIDDEN.contains(&number) {
        return Err(io::Error::other(format!("Refusing to register signal {number}")));
    }
    Ok(())
}

/// One who listens to a kind of signal. Made by [`signal`].
///
/// Any number of them may listen to the same kind, and each sees what comes. It may be used in another runtime than the one
/// it was made in, also when that one is gone.
///
/// # Examples
///
/// ```
/// # gmp_exec::runtime::Runtime::new()?.block_on(async {
/// use gmp_io::signal::unix::{SignalKind, signal};
///
/// let mut terminate = signal(SignalKind::terminate())?;
/// # let pid = rustix::process::getpid();
/// # rustix::process::kill_process(pid, rustix::process::Signal::TERM)?;
/// tokio::select! {
///     _ = terminate.recv() => println!("asked to end"),
///     _ = std::future::pending::<()>() => unreachable!("the work of this program never ends"),
/// }
/// # std::io::Result::Ok(())
/// # })?;
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
#[must_use = "a signal does nothing unless it is waited for"]
pub struct Signal {
    subscription: Subscription,
}

impl Signal {
    /// Waits until a signal has come since the last time this returned: several are one. Never `None`.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the next call returns at once if a signal has come in between.
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// The poll behind [`recv`](Signal::recv), for futures written by hand. Of several tasks that call it, the last one is
    /// woken.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let coop = ready!(coop::poll_proceed(cx));
        if self.subscription.poll_changed(cx).is_pending() {
            hear_signals_here();
            return Poll::Pending;
        }
        coop.made_progress();
        Poll::Ready(Some(()))
    }
}

/// Makes the current runtime listen: the one in which the signal was made may be gone, or not running.
fn hear_signals_here() {
    if let Some(Ok(reactor)) = Reactor::try_current() {
        // Without descriptors this runtime hears of signals through the others, if there are any.
        let _ = reactor.receive_signals();
    }
}
