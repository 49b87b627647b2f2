//! Hosts, partitions and crashes for tests of programs that are spread over several computers.
//!
//! Under `cargo gmp test --seeds 1000` the network of a test is simulated, and repeats with its seed. With
//! this crate a test has several hosts in one process, each with an address, a name and a clock of its own.
//! A host may crash, and the way between two hosts may be cut.
//!
//! ```
//! use gmp_sim::{Host, heal, partition};
//! use tokio::net::{TcpListener, TcpStream};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (mut server, mut client) = (Host::new("server"), Host::new("client"));
//! let ip = server.ip();
//! server.start(move || async move {
//!     let listener = TcpListener::bind((ip, 8080)).await.unwrap();
//!     while let Ok((connection, _)) = listener.accept().await {
//!         drop(connection);
//!     }
//! });
//! partition(&server, &client);
//! client.start(move || async move {
//!     // In a seeded run this waits until the partition ends.
//!     while TcpStream::connect((ip, 8080)).await.is_err() {
//!         tokio::task::yield_now().await;
//!     }
//! });
//! heal(&server, &client);
//! client.finished().await;
//! # }
//! ```
//!
//! # Without a seed
//!
//! With an ordinary `cargo test`, on tokio or on gmp, the hosts still run, each on a thread with a runtime
//! of its own, with real sockets and a loopback address of its own. [`Host::crash`] and [`Host::restart`]
//! work. All else is inert: no way is cut, clocks are the computer's, hosts can't be found by their names,
//! and [`choose`] is 0. [`is_simulated`] tells.
//!
//! Seeded runs need Linux with glibc. The loopback addresses that hosts have without a seed exist on Linux
//! alone.

#![deny(unsafe_code)]
#![doc(test(attr(deny(warnings))))]

mod engine;
mod host;
mod ways;

pub use host::{Host, host};
pub use ways::{heal, hold, partition, partition_oneway, release};

/// Whether hosts are simulated: the test runs under a seed, and `--net kernel` was not asked for.
///
/// ```
/// assert!(!gmp_sim::is_simulated(), "this is an ordinary run");
/// ```
#[must_use]
pub fn is_simulated() -> bool {
    engine::is_on()
}

/// One of `0..count`, which the seed chooses, such as how many messages come before a crash; 0 without a
/// seed, and if `count` is 0.
///
/// Unlike random numbers, the choice is shrunk after a failure: it is 0 if that fails as well. So 0 should be
/// what is the least trouble.
///
/// ```
/// let crashes_after = gmp_sim::choose(10);
/// assert!(crashes_after < 10);
/// ```
#[must_use]
pub fn choose(count: usize) -> usize {
    engine::choose(count)
}
