//! The common parts of all tests: tokio's runtime, which is gmp's, a task that blocks its only
//! worker, and a deadline.
//!
//! This file and the tests are written against tokio. Each test proves twice that it runs on gmp:
//! the types are gmp's, and on the multi-thread flavour the runtime has one worker, in whose poll a
//! task blocks until the test is over. On tokio, no other task would ever run on that worker, and
//! no socket or timer would be polled.

use std::future::Future;
use std::sync::mpsc::{Sender, channel};

use compat_tests::DEADLINE;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::time::timeout;

/// Runs a test beside a task that blocks its worker, and again on the current-thread flavour, where
/// no task may block.
pub(crate) fn on_gmp<F: Future<Output = ()>>(test: impl Fn() -> F) {
    beside_a_blocked_worker(&test);
    on_current_thread(&test);
}

pub(crate) fn beside_a_blocked_worker<F: Future<Output = ()>>(test: impl Fn() -> F) {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let blocked = block_worker(&runtime);
    run(&runtime, test());
    drop(blocked);
}

pub(crate) fn on_current_thread<F: Future<Output = ()>>(test: impl Fn() -> F) {
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    run(&runtime, test());
}

fn run(runtime: &Runtime, test: impl Future<Output = ()>) {
    runtime.block_on(async {
        assert_gmp();
        timeout(DEADLINE, test).await.expect("done long before the deadline");
    });
}

/// Does not compile if tokio isn't gmp, and panics if the runtime is not gmp's.
pub(crate) fn assert_gmp() {
    let _: Handle = gmp_exec::runtime::Handle::current();
}

/// A task that blocks in its poll until the returned value is dropped. The poll has begun when this
/// function returns.
fn block_worker(runtime: &Runtime) -> Sender<()> {
    let (free, blocked) = channel::<()>();
    let (begin, begun) = channel();
    runtime.spawn(async move {
        begin.send(()).expect("the test waits");
        blocked.recv().expect_err("nothing is sent");
    });
    begun.recv().expect("the task runs");
    free
}

/// A loopback listener, and its address.
pub(crate) async fn listen() -> (tokio::net::TcpListener, std::net::SocketAddr) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a listener");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Serves an application over HTTP while the runtime exists.
pub(crate) async fn serve(application: axum::Router) -> std::net::SocketAddr {
    let (listener, address) = listen().await;
    tokio::spawn(axum::serve(listener, application).into_future());
    address
}

/// A client with its own pool of connections, which ignores proxy variables.
pub(crate) fn client() -> reqwest::Client {
    // With the default roots, the client would read the system's certificates first.
    let tls = compat_tests::certificates::trusts_nobody();
    reqwest::Client::builder().no_proxy().tls_backend_preconfigured(tls).build().expect("a client")
}

/// The answer to a `GET`.
pub(crate) async fn get(client: &reqwest::Client, url: String) -> String {
    client.get(url).send().await.expect("a response").text().await.expect("a body")
}
