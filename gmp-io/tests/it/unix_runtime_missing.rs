//! Unix sockets outside of a runtime, or on one without I/O: tokio's messages, at the caller's
//! line.

use std::any::Any;
use std::os::unix::net;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::{Arc, Mutex};

use gmp_exec::runtime::Builder;
use gmp_io::net::unix::pipe;
use gmp_io::net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};

use crate::support::in_child;

const NO_RUNTIME: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime";
const NO_IO: &str =
    "A Tokio 1.x context was found, but IO is disabled. Call `enable_io` on the runtime builder to enable IO.";

/// A line of this file, and a call in it.
type Call = (&'static Location<'static>, Box<dyn FnOnce()>);

/// Every function that registers a descriptor without being awaited.
fn calls(directory: &Path) -> Vec<Call> {
    #[track_caller]
    fn call(f: impl FnOnce() + 'static) -> Call {
        (Location::caller(), Box::new(f))
    }

    fn nonblocking() -> net::UnixStream {
        let (stream, _peer) = net::UnixStream::pair().expect("a pair");
        stream.set_nonblocking(true).expect("set");
        stream
    }

    let (listener, datagram) = (directory.join("listener"), directory.join("datagram"));
    let bound = UnixSocket::new_stream().expect("a socket");
    bound.bind(directory.join("socket")).expect("bound");
    vec![
        call(|| drop(UnixStream::pair())),
        call(|| drop(UnixStream::from_std(nonblocking()))),
        call(|| drop(UnixListener::bind(listener))),
        call(|| drop(bound.listen(1))),
        call(|| drop(UnixDatagram::pair())),
        call(|| drop(UnixDatagram::unbound())),
        call(|| drop(UnixDatagram::bind(datagram))),
        call(|| drop(UnixSocket::new_datagram().map(|socket| drop(socket.datagram())))),
        call(|| drop(pipe::pipe())),
    ]
}

/// Runs each call and compares the message and the line.
fn all_panic_with(expected: &str) {
    let directory = tempfile::tempdir().expect("a directory");
    for (location, call) in calls(directory.path()) {
        let (message, file, line) = panic_of(call);
        assert!(message.contains(expected), "{message}");
        assert_eq!((file.as_str(), line), (location.file(), location.line()));
    }
}

/// The message and the line of the panic of `call`.
fn panic_of(call: impl FnOnce()) -> (String, String, u32) {
    let seen = Arc::new(Mutex::new(None));
    let report = seen.clone();
    set_hook(Box::new(move |info| {
        let message = text_of(info.payload());
        let location = info.location().expect("a location");
        *report.lock().expect("not poisoned") = Some((message, location.file().to_owned(), location.line()));
    }));
    let result = catch_unwind(AssertUnwindSafe(call));
    drop(take_hook());
    assert!(result.is_err(), "should have panicked");
    seen.lock().expect("not poisoned").take().expect("reported")
}

fn text_of(payload: &dyn Any) -> String {
    let formatted = payload.downcast_ref::<String>().cloned();
    formatted.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

#[test]
fn outside_of_a_runtime_everything_panics_at_the_callers_line() {
    in_child("unix_runtime_missing::outside_of_a_runtime_everything_panics_at_the_callers_line", || {
        all_panic_with(NO_RUNTIME);
    });
}

#[test]
fn without_io_everything_panics_at_the_callers_line() {
    in_child("unix_runtime_missing::without_io_everything_panics_at_the_callers_line", || {
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        let _guard = runtime.enter();
        all_panic_with(NO_IO);
    });
}
