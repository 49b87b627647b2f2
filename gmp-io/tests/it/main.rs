//! gmp-io from outside: real sockets on real runtimes of both flavours.

mod auto_traits;
mod deadlines;
mod faults;
mod hyper_server;
mod idle;
mod names;
mod pipe;
mod readiness;
mod support;
mod tcp_listener;
mod tcp_socket;
mod tcp_split;
mod tcp_stream;
mod unix_datagram;
mod unix_listener;
mod unix_misuse;
mod unix_socket;
mod unix_split;
mod unix_stream;
