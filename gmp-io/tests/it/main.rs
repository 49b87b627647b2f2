//! gmp-io from outside: real sockets on real runtimes of both flavours.

mod async_fd;
mod auto_traits;
mod deadlines;
mod faults;
mod hyper_server;
mod idle;
mod names;
mod readiness;
mod signal;
mod signal_multi;
mod support;
mod tcp_listener;
mod tcp_socket;
mod tcp_split;
mod tcp_stream;
mod udp;
