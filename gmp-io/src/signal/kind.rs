//! The kinds of signals.

use std::os::raw::c_int;

use rustix::process::Signal;

/// A kind of signal.
///
/// The common kinds have a constructor. Any other kind, such as a real-time signal, is made from
/// its number.
///
/// # Examples
///
/// ```
/// use gmp_io::signal::unix::SignalKind;
///
/// assert_eq!(SignalKind::from_raw(1), SignalKind::hangup());
/// assert_eq!(SignalKind::interrupt().as_raw_value(), 2);
/// ```
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
pub struct SignalKind(c_int);

impl SignalKind {
    /// The kind with this number. Whether the kind exists is found out when a
    /// [`signal`](super::unix::signal) is made.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::signal::unix::SignalKind;
    ///
    /// assert_eq!(SignalKind::from_raw(15), SignalKind::terminate());
    /// # std::io::Result::Ok(())
    /// ```
    pub const fn from_raw(signum: c_int) -> Self {
        SignalKind(signum)
    }

    /// The number of the kind.
    ///
    /// # Examples
    ///
    /// ```
    /// use gmp_io::signal::unix::SignalKind;
    ///
    /// assert_eq!(SignalKind::hangup().as_raw_value(), 1);
    /// # std::io::Result::Ok(())
    /// ```
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }
}

/// A constructor for each kind: its name, the system's name, and its meaning.
macro_rules! kinds {
    ($($name:ident = $signal:ident, $number:literal: $meaning:literal;)*) => {
        impl SignalKind {
            $(
                #[doc = concat!("`", $number, "`: ", $meaning)]
                pub const fn $name() -> Self {
                    SignalKind(Signal::$signal.as_raw())
                }
            )*
        }
    };
}

kinds! {
    alarm = ALARM, "SIGALRM": "a timer of the system has expired. Ends a process that does not catch it.";
    child = CHILD, "SIGCHLD": "a child process has stopped, continued or exited. Ignored by default.";
    hangup = HUP, "SIGHUP": "the terminal was closed; for services, by convention, \"read the configuration again\". Ends \
                             a process that does not catch it.";
    interrupt = INT, "SIGINT": "Ctrl-C. Ends a process that does not catch it.";
    io = IO, "SIGIO": "a descriptor has become ready. Ends a process that does not catch it.";
    pipe = PIPE, "SIGPIPE": "a write to a pipe or socket whose other end is closed. Rust programs ignore it from the \
                             start, and get an error instead.";
    quit = QUIT, "SIGQUIT": "Ctrl-\\\\, which asks for a core dump. Ends a process that does not catch it.";
    terminate = TERM, "SIGTERM": "a request to end. Ends a process that does not catch it.";
    user_defined1 = USR1, "SIGUSR1": "its meaning is up to the program. Ends a process that does not catch it.";
    user_defined2 = USR2, "SIGUSR2": "its meaning is up to the program. Ends a process that does not catch it.";
    window_change = WINCH, "SIGWINCH": "the terminal's window has another size. Ignored by default.";
}

#[cfg(any(
    target_os = "dragonfly",
    target_os = "freebsd",
    target_os = "macos",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "illumos"
))]
kinds! {
    info = INFO, "SIGINFO": "Ctrl-T, which asks how far the program is. Ignored by default.";
}

impl From<c_int> for SignalKind {
    fn from(signum: c_int) -> Self {
        Self::from_raw(signum)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> Self {
        kind.as_raw_value()
    }
}
