//! The common parts of all tests: a runtime of gmp and none of tokio, a deadline, and loopback
//! connections.

use std::future::Future;
use std::net::SocketAddr;

use compat_tests::DEADLINE;
use gmp_exec::runtime::{Builder, Runtime};
use gmp_exec::time::timeout;
use gmp_io::net::{TcpListener, TcpStream};

/// Runs a test on both flavours, and checks that tokio's runtime takes no part.
pub(crate) fn on_gmp<F: Future<Output = ()>>(test: impl Fn() -> F) {
    for runtime in [multi_thread(), current_thread()] {
        runtime.block_on(async {
            assert_no_tokio();
            timeout(DEADLINE, test()).await.expect("done long before the deadline");
            assert_no_tokio();
        });
    }
}

fn multi_thread() -> Runtime {
    without_tokio(Builder::new_multi_thread().worker_threads(2))
}

fn current_thread() -> Runtime {
    without_tokio(&mut Builder::new_current_thread())
}

/// Each thread that the runtime starts also checks.
fn without_tokio(builder: &mut Builder) -> Runtime {
    builder.on_thread_start(assert_no_tokio).enable_all().build().expect("a runtime")
}

/// tokio's runtime may be compiled in because a crate requires it, but this thread must not have
/// entered it.
fn assert_no_tokio() {
    assert!(tokio::runtime::Handle::try_current().is_err(), "a tokio runtime is current");
}

pub(crate) async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Serves each connection in a task of its own; returns the address.
pub(crate) async fn serve<F>(each: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (listener, address) = listen().await;
    serve_on(listener, each);
    address
}

pub(crate) fn serve_on<F>(listener: TcpListener, each: impl Fn(TcpStream) -> F + Send + 'static)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    gmp_exec::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            gmp_exec::spawn(each(stream));
        }
    });
}

pub(crate) async fn connect(address: SocketAddr) -> TcpStream {
    TcpStream::connect(address).await.expect("connected")
}

/// Both ends of a connection.
pub(crate) async fn pair() -> (TcpStream, TcpStream) {
    let (listener, address) = listen().await;
    let (client, accepted) = tokio::join!(connect(address), listener.accept());
    (client, accepted.expect("accepted").0)
}

/// Sends on a channel when it is dropped, which proves that its owner is gone.
pub(crate) struct TellsDropped(Option<tokio::sync::oneshot::Sender<()>>);

pub(crate) fn tells_dropped() -> (TellsDropped, tokio::sync::oneshot::Receiver<()>) {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    (TellsDropped(Some(sender)), receiver)
}

impl Drop for TellsDropped {
    fn drop(&mut self) {
        let _ = self.0.take().expect("dropped once").send(());
    }
}
