//! An adapter that lets hickory's DNS resolver run on gmp.
//!
//! A [`Resolver`](hickory_resolver::Resolver) is made for a [`RuntimeProvider`], which spawns,
//! sleeps and connects; [`GmpRuntimeProvider`] does so on gmp. Unlike
//! [`lookup_host`](crate::net::lookup_host), which asks the system and blocks a thread, such a
//! resolver speaks DNS itself.
//!
//! hickory needs Rust 1.88, a later version than the rest of this crate.
//!
//! # Examples
//!
//! ```
//! # gmp_exec::runtime::Runtime::new()?.block_on(async {
//! # // A name server that knows one name: copies the question and appends the answer.
//! # let server = gmp_io::net::UdpSocket::bind("127.0.0.1:0").await?;
//! # let server_address = server.local_addr()?;
//! # gmp_exec::spawn(async move {
//! #     let mut message = [0; 512];
//! #     while let Ok((_, peer)) = server.recv_from(&mut message).await {
//! #         let root = message[12..].iter().position(|&byte| byte == 0).expect("the root");
//! #         let end = 12 + root + 5;
//! #         message[2..12].copy_from_slice(&[0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0]);
//! #         let answer = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 7];
//! #         message[end..end + 16].copy_from_slice(&answer);
//! #         server.send_to(&message[..end + 16], peer).await?;
//! #     }
//! #     std::io::Result::Ok(())
//! # });
//! use gmp_io::hickory_resolver::GmpRuntimeProvider;
//! use hickory_resolver::Resolver;
//! use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig};
//!
//! let mut udp = ConnectionConfig::udp();
//! udp.port = server_address.port();
//! let server = NameServerConfig::new(server_address.ip(), true, vec![udp]);
//! let config = ResolverConfig::from_name_servers(vec![server]);
//!
//! let builder = Resolver::builder_with_config(config, GmpRuntimeProvider::new());
//! let resolver = builder.build().expect("a resolver");
//! let answer = resolver.ipv4_lookup("gopher.test.").await.expect("an answer");
//! assert!(answer.answers()[0].to_string().ends_with("192.0.2.7"));
//! # std::io::Result::Ok(())
//! # })?;
//! # std::io::Result::Ok(())
//! ```

mod provider;
mod stream;

#[cfg(doc)]
use hickory_resolver::net::runtime::RuntimeProvider;
pub use provider::{GmpRuntimeProvider, GmpSpawner, GmpTime};
pub use stream::DnsStream;
