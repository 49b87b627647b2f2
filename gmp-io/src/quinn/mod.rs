//! An adapter that lets quinn, and so QUIC, run on gmp.
//!
//! quinn has no runtime: an [`Endpoint`](quinn::Endpoint) requires one that spawns, sleeps and
//! waits for a UDP socket. [`GmpRuntime`] does all three. Sending and receiving many datagrams in
//! one call, and the details that QUIC wants to know about each, are left to `quinn::udp`, as on
//! other runtimes.
//!
//! # Examples
//!
//! An endpoint, made without `Endpoint::client` and `Endpoint::server`, which look for tokio:
//!
//! ```
//! # gmp_exec::runtime::Runtime::new()?.block_on(async {
//! use std::net::UdpSocket;
//! use std::sync::Arc;
//!
//! use gmp_io::quinn::GmpRuntime;
//! use quinn::{Endpoint, EndpointConfig};
//!
//! let socket = UdpSocket::bind("127.0.0.1:0")?;
//! let address = socket.local_addr()?;
//! // `None`: the endpoint opens connections and accepts none.
//! let (config, runtime) = (EndpointConfig::default(), Arc::new(GmpRuntime::new()));
//! let endpoint = Endpoint::new(config, None, socket, runtime)?;
//! assert_eq!(endpoint.local_addr()?, address);
//!
//! // The task that drives the endpoint runs on gmp. It stops, as there are no connections.
//! endpoint.close(0_u32.into(), b"");
//! endpoint.wait_idle().await;
//! # std::io::Result::Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```

mod runtime;
mod socket;
mod timer;

pub use runtime::GmpRuntime;
