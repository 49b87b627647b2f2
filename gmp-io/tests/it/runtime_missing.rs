//! Without a runtime, or on one without I/O: tokio's panics, at the line of the program that made
//! the mistake.

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::net::{SocketAddr, TcpListener as StdListener, TcpStream as StdStream, UdpSocket as StdUdp};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use futures::FutureExt;
use gmp_exec::runtime::Builder;
use gmp_io::io::Interest;
use gmp_io::io::unix::AsyncFd;
use gmp_io::net::{TcpListener, TcpSocket, TcpStream, UdpSocket};

use crate::async_fd::register;

const NO_RUNTIME: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime";
const NO_IO: &str = "A Tokio 1.x context was found, but IO is disabled. \
                     Call `enable_io` on the runtime builder to enable IO.";

const ANY: &str = "127.0.0.1:0";

/// Each of these calls is a mistake without a runtime, and the panic must point into this file.
#[expect(deprecated, reason = "the old constructors panic as well")]
fn synchronous() -> Vec<Box<dyn FnOnce()>> {
    fn nonblocking(socket: impl std::os::fd::AsFd) {
        socket2::SockRef::from(&socket).set_nonblocking(true).expect("set");
    }
    let listener = || {
        let listener = StdListener::bind(ANY).expect("a listener");
        nonblocking(&listener);
        listener
    };
    let stream = move || {
        let stream = StdStream::connect(listener().local_addr().expect("an address")).expect("connected");
        nonblocking(&stream);
        stream
    };
    let udp = || {
        let socket = StdUdp::bind(ANY).expect("a socket");
        nonblocking(&socket);
        socket
    };
    let socket = || {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(ANY.parse().expect("an address")).expect("bound");
        socket
    };
    vec![
        Box::new(move || drop(TcpListener::from_std(listener()))),
        Box::new(move || drop(TcpStream::from_std(stream()))),
        Box::new(move || drop(socket().listen(1))),
        Box::new(move || drop(UdpSocket::from_std(udp()))),
        Box::new(move || {
            // SAFETY: the socket keeps its descriptor open.
            drop(unsafe { AsyncFd::register(udp()) });
        }),
        Box::new(move || {
            // SAFETY: the same.
            drop(unsafe { AsyncFd::register_with_interest(udp(), Interest::READABLE) });
        }),
        Box::new(move || drop(AsyncFd::new(udp()))),
        Box::new(move || drop(AsyncFd::with_interest(udp(), Interest::READABLE))),
        Box::new(move || drop(AsyncFd::try_new(udp()))),
        Box::new(move || drop(AsyncFd::try_with_interest(udp(), Interest::READABLE))),
    ]
}

/// A future that waits panics inside of this crate or gmp-exec: the code that polls a future did
/// not make the mistake.
fn asynchronous() -> Vec<Box<dyn FnOnce()>> {
    fn poll(future: impl Future) {
        let _ = future.now_or_never();
    }
    fn any() -> SocketAddr {
        ANY.parse().expect("an address")
    }
    fn connecting<F: Future>(connect: impl FnOnce(SocketAddr) -> F) {
        let listener = StdListener::bind(ANY).expect("a listener");
        poll(connect(listener.local_addr().expect("an address")));
    }
    vec![
        Box::new(|| poll(TcpListener::bind(any()))),
        Box::new(|| poll(UdpSocket::bind(any()))),
        Box::new(|| connecting(TcpStream::connect)),
        Box::new(|| connecting(|address| TcpSocket::new_v4().expect("a socket").connect(address))),
    ]
}

struct Panic {
    message: String,
    file: String,
}

thread_local! {
    /// `Some` while this thread runs code that should panic.
    static EXPECTED: RefCell<Option<Vec<Panic>>> = const { RefCell::new(None) };
}

/// Runs `body`, which must panic, and returns the message and the file of the panic.
fn panic_of(body: impl FnOnce()) -> Panic {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = take_hook();
        set_hook(Box::new(move |info| {
            let Some(mut panics) = EXPECTED.take() else {
                return report(info);
            };
            panics.push(Panic {
                message: message_of(info.payload()),
                file: info.location().map(|location| location.file().to_owned()).unwrap_or_default(),
            });
            EXPECTED.set(Some(panics));
        }));
    });
    EXPECTED.set(Some(Vec::new()));
    let result = catch_unwind(AssertUnwindSafe(body));
    let panics = EXPECTED.take().expect("set above");
    assert!(result.is_err(), "should have panicked");
    panics.into_iter().next().expect("the hook has seen it")
}

fn message_of(payload: &dyn Any) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or_default().to_owned()
}

fn assert_all_panic(expected: &str) {
    for (index, body) in synchronous().into_iter().enumerate() {
        let panic = panic_of(body);
        assert_eq!(panic.message, expected, "constructor {index}");
        assert_eq!(panic.file, file!(), "constructor {index}");
    }
    for (index, body) in asynchronous().into_iter().enumerate() {
        assert_eq!(panic_of(body).message, expected, "function {index}");
    }
}

#[test]
fn without_a_runtime_everything_that_registers_panics() {
    assert_all_panic(NO_RUNTIME);
}

#[test]
fn on_a_runtime_without_io_everything_that_registers_panics() {
    for runtime in [Builder::new_multi_thread().worker_threads(1).build(), Builder::new_current_thread().build()] {
        let runtime = runtime.expect("a runtime");
        let _entered = runtime.enter();
        assert_all_panic(NO_IO);
    }
}

/// The descriptor is not leaked: the panic drops its owner.
#[test]
fn a_panic_closes_the_descriptor() {
    let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
    assert_eq!(panic_of(|| drop(register(writer))).message, NO_RUNTIME);
    assert_eq!(rustix::io::read(&reader, &mut [0; 1]).expect("read"), 0, "the writer was dropped");
}
