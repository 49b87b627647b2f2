use std::os::raw::c_int;

use rustix::process::Signal;

/// A kind of signal.
///
/// The common ones have a constructor; any other, such as a real-time signal, comes from its number.
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
    /// The kind with this number. Whether there is such a kind turns out when it is listened to.
    pub const fn from_raw(signum: c_int) -> Self {
        SignalKind(signum)
    }

    /// The kind's number.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }
}

/// A constructor for each: its name, the system's name, and what it means.
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
    alarm = ALARM, "SIGALRM": "a timer of the system has run out. Ends a process that doesn't catch it.";
    child = CHILD, "SIGCHLD": "a child process has stopped, gone on or exited. Ignored by default.";
    hangup = HUP, "SIGHUP": "the terminal is gone; for services, by custom, \"read the configuration again\". Ends a process \
                             that doesn't catch it.";
    interrupt = INT, "SIGINT": "Ctrl-C. Ends a process that doesn't catch it.";
    io = IO, "SIGIO": "a descriptor has become ready. Ends a process that doesn't catch it.";
    pipe = PIPE, "SIGPIPE": "nobody reads what was written into a pipe or socket. Rust programs ignore it from the start, \
                             and get an error instead.";
    quit = QUIT, "SIGQUIT": "Ctrl-\\\\, which asks for a core dump. Ends a process that doesn't catch it.";
    terminate = TERM, "SIGTERM": "the polite request to end. Ends a process that doesn't catch it.";
    user_defined1 = USR1, "SIGUSR1": "what the program wants it to mean. Ends a process that doesn't catch it.";
    user_defined2 = USR2, "SIGUSR2": "what the program wants it to mean. Ends a process that doesn't catch it.";
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
