//! Helpers for all tests.

use std::future::Future;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::task::{Wake, Waker};
use std::time::Duration;

use futures::FutureExt;
use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::time::{sleep, timeout};
use gmp_io::net::{TcpListener, TcpSocket, TcpStream};

/// Long enough for a busy machine. A test that needs longer has failed.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
}

pub(crate) fn current_thread() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Runs a test on both flavours.
pub(crate) fn on_both<F: Future<Output = ()>>(test: impl Fn() -> F) {
    for runtime in [multi_thread(), current_thread()] {
        runtime.block_on(within_deadline(test()));
    }
}

pub(crate) async fn within_deadline<T>(future: impl Future<Output = T>) -> T {
    timeout(DEADLINE, future).await.expect("done long before the deadline")
}

/// Tries until there is an outcome. A descriptor that this process has closed may still be open in
/// a child that another test is starting, until the child's program begins: so another process may
/// be the last to close it.
pub(crate) async fn eventually<T>(mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    loop {
        match attempt().await {
            Some(outcome) => return outcome,
            None => sleep(Duration::from_millis(1)).await,
        }
    }
}

pub(crate) async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.expect("a listener")
}

/// A socket at whose address no process listens as long as it is kept.
pub(crate) fn deaf() -> (TcpSocket, SocketAddr) {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("bound");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}

/// Both ends of a connection.
pub(crate) async fn pair() -> (TcpStream, TcpStream) {
    let listener = listen().await;
    let address = listener.local_addr().expect("an address");
    let (client, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
    (client.expect("connected"), accepted.expect("accepted").0)
}

/// Makes sure that `stream`, to which nothing has been sent, does not count as readable any more.
/// An accepted socket starts out as readable, on a guess, and an event (it is writable) may keep
/// the first attempt from correcting it.
pub(crate) async fn settle(stream: &TcpStream) {
    while stream.readable().now_or_never().is_some() {
        let error = stream.try_read(&mut [0; 1]).expect_err("nothing there");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
}

/// A waker that counts how often it is woken.
#[derive(Default)]
pub(crate) struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Count {
    pub(crate) fn waker(self: &Arc<Self>) -> Waker {
        self.clone().into()
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(SeqCst)
    }
}

const CHILD: &str = "GMP_IO_TEST_CHILD";

/// Runs `test` in a child process: this binary again, with only the calling test, whose path is
/// `name`.
pub(crate) fn in_child(name: &str, test: impl FnOnce()) {
    let Some(output) = output_of_child(name, test) else { return };
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "the child ran another number of tests: {text}");
}

/// The same, for a child that need not succeed. `None`: this is the child, which has run `test`.
pub(crate) fn output_of_child(name: &str, test: impl FnOnce()) -> Option<Output> {
    if std::env::var_os(CHILD).is_some() {
        test();
        return None;
    }
    let child = Command::new(std::env::current_exe().expect("this binary"))
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output();
    Some(child.expect("the child runs"))
}

/// The message of the panic of `f`.
pub(crate) fn message_of(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("it panics");
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a message")
}
