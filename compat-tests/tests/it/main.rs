//! Real crates on gmp, which communicate over real sockets. There is no tokio runtime in the
//! process.

mod async_trait;
mod axum;
mod deadpool;
mod h2;
mod hickory_resolver;
mod hyper;
mod hyper_util;
mod quinn;
mod redis;
mod support;
mod tokio_postgres;
mod tokio_rustls;
mod tokio_stream;
mod tokio_tungstenite;
mod tokio_util;
mod tonic;
mod tower;
mod tracing;
