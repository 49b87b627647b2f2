//! Adapters that let hyper run on gmp.
//!
//! hyper has no runtime. It requires an executor that spawns tasks ([`GmpExecutor`]), a timer
//! ([`GmpTimer`]) and connections that implement its own I/O traits ([`GmpIo`]). With these, hyper
//! and crates built on it, such as an axum `Router`, run without a tokio runtime in the process.
//!
//! # Examples
//!
//! An axum `Router`, served without `axum::serve` (which spawns on tokio):
//!
//! ```
//! # use gmp_exec::runtime::Runtime;
//! # Runtime::new()?.block_on(async {
//! use axum::{Router, routing::get};
//! use gmp_io::hyper::{GmpIo, GmpTimer};
//! use gmp_io::net::TcpListener;
//! use hyper::server::conn::http1;
//! use hyper_util::service::TowerToHyperService;
//!
//! let router = Router::new().route("/", get(|| async { "hello" }));
//! let service = TowerToHyperService::new(router);
//!
//! let listener = TcpListener::bind("127.0.0.1:0").await?;
//! # let address = listener.local_addr()?;
//! gmp_exec::spawn(async move {
//!     loop {
//!         let (stream, _peer) = listener.accept().await?;
//!         let connection = http1::Builder::new()
//!             .timer(GmpTimer::new())
//!             .serve_connection(GmpIo::new(stream), service.clone());
//!         gmp_exec::spawn(connection);
//!     }
//!     # #[allow(unreachable_code)] std::io::Result::Ok(())
//! });
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//! # let mut client = gmp_io::net::TcpStream::connect(address).await?;
//! # client.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await?;
//! # let mut answer = String::new();
//! # client.read_to_string(&mut answer).await?;
//! # assert!(answer.ends_with("hello"), "{answer}");
//! # std::io::Result::Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```

mod executor;
mod io;
mod timer;

pub use executor::GmpExecutor;
pub use io::GmpIo;
pub use timer::GmpTimer;
