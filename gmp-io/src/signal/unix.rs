//! Signals of Unix.

use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

use gmp_exec::task::coop;

pub use super::kind::SignalKind;
use super::listeners::Subscription;
use super::table::SignalTable;
use crate::reactor::Reactor;

/// Listens to a kind of signal: the result receives the signals of this kind that the process gets
/// from now on.
///
/// The first call for a kind installs a handler, **which stays for the rest of the process** and
/// replaces the default action: see [the module](super#handlers-stay). After that, a signal that
/// came a moment ago and was not delivered yet is seen as well.
///
/// # Errors
///
/// The kind can't be caught: SIGKILL, SIGSTOP, SIGILL, SIGFPE, SIGSEGV, or a number that is no
/// signal. The system has no descriptors left. The runtime has been shut down.
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
#[doc(alias = "Notify")]
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    let reactor = Reactor::current()?;
    check_allowed(kind)?;
    reactor.watch_signals()?;
    let table = SignalTable::get()?;
    Ok(Signal { subscription: table.subscribe(kind.as_raw_value())? })
}

fn check_allowed(kind: SignalKind) -> io::Result<()> {
    let number = kind.as_raw_value();
    if number <= 0 || signal_hook_registry::FORBIDDEN.contains(&number) {
        return Err(io::Error::other(format!("Refusing to register signal {number}")));
    }
    Ok(())
}

/// A listener for a kind of signal, from [`signal`].
///
/// Any number of listeners can listen to the same kind, and each sees all signals. A listener can
/// be used in another runtime than the one it was made in, even if that runtime is gone.
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
    /// Waits until a signal has come since this last returned. Several signals are reported once.
    /// Never returns `None`.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost: the next call returns at once if a signal has come in between.
    ///
    /// # Examples
    ///
    /// ```
    /// # gmp_exec::runtime::Runtime::new()?.block_on(async {
    /// use gmp_io::signal::unix::{SignalKind, signal};
    ///
    /// let mut user = signal(SignalKind::user_defined1())?;
    /// let pid = rustix::process::getpid();
    /// rustix::process::kill_process(pid, rustix::process::Signal::USR1)?;
    /// assert_eq!(user.recv().await, Some(()));
    /// # std::io::Result::Ok(())
    /// # })?;
    /// # std::io::Result::Ok(())
    /// ```
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// The poll function behind [`recv`](Signal::recv), for futures written by hand. Of several
    /// tasks that call it, the last one is woken.
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let coop = ready!(coop::poll_proceed(cx));
        if self.subscription.poll_changed(cx).is_pending() {
            watch_signals_here();
            return Poll::Pending;
        }
        coop.made_progress();
        Poll::Ready(Some(()))
    }
}

/// Makes the current runtime watch for signals: the runtime in which the listener was made may be
/// gone, or not running.
fn watch_signals_here() {
    if let Some(Ok(reactor)) = Reactor::try_current() {
        // Without descriptors this runtime learns of signals through the reactors of others, if
        // there are any.
        let _ = reactor.watch_signals();
    }
}
