//! gmp-io from outside: real sockets on real runtimes of both flavours.

mod auto_traits;
mod deadlines;
mod faults;
mod fs_file;
mod fs_inline;
mod fs_paths;
mod fs_support;
mod hyper_server;
mod idle;
mod names;
mod readiness;
mod support;
mod tcp_listener;
mod tcp_socket;
mod tcp_split;
mod tcp_stream;
