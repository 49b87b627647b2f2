//! An adapter that lets hyper-util's pooling client run on gmp.
//!
//! The client pools connections, but leaves opening them to a connector. hyper-util's own,
//! `HttpConnector`, only knows tokio's sockets; [`GmpConnector`] opens gmp's. Spawning and sleeping
//! are provided through hyper ([`GmpExecutor`](crate::hyper::GmpExecutor),
//! [`GmpTimer`](crate::hyper::GmpTimer)). The servers of hyper-util need those and nothing from
//! this module.
//!
//! # Examples
//!
//! ```
//! # use gmp_exec::runtime::Runtime;
//! # use gmp_io::hyper::GmpIo;
//! # Runtime::new()?.block_on(async {
//! # let listener = gmp_io::net::TcpListener::bind("127.0.0.1:0").await?;
//! # let address = listener.local_addr()?;
//! # gmp_exec::spawn(async move {
//! #     let (stream, _) = listener.accept().await?;
//! #     let service = hyper::service::service_fn(async |_| {
//! #         Ok::<_, hyper::Error>(hyper::Response::new(String::from("hello")))
//! #     });
//! #     let server = hyper::server::conn::http1::Builder::new();
//! #     server.serve_connection(GmpIo::new(stream), service).await.expect("served");
//! #     std::io::Result::Ok(())
//! # });
//! use gmp_io::hyper::{GmpExecutor, GmpTimer};
//! use gmp_io::hyper_util::GmpConnector;
//! use http_body_util::{BodyExt, Empty};
//! use hyper::body::Bytes;
//! use hyper_util::client::legacy::Client;
//!
//! let client: Client<_, Empty<Bytes>> =
//!     Client::builder(GmpExecutor::new()).pool_timer(GmpTimer::new()).build(GmpConnector::new());
//!
//! let uri = format!("http://{address}/").parse().expect("an address");
//! let response = client.get(uri).await.expect("an answer");
//! let body = response.into_body().collect().await.expect("a body").to_bytes();
//! assert_eq!(body, "hello");
//! # std::io::Result::Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```

mod connector;

pub use connector::GmpConnector;
