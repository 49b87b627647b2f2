//! Real crates that call tokio by name run on gmp through the drop-in, and communicate over real
//! sockets.

mod actix_rt;
mod async_nats;
mod auto_traits;
mod axum;
mod console_subscriber;
mod dufs;
mod dump;
mod graph;
mod hickory;
mod hyper_util;
mod jsonrpsee;
mod locks;
mod redis;
mod reqwest;
mod sqlx;
mod support;
mod threads;
mod tokio_metrics;
mod tokio_postgres;
mod tokio_stream;
mod tokio_util;
mod tonic;
mod tower;
mod waits;
mod warp;
