//! gmp-io from outside: real sockets on real runtimes of both flavours.

mod async_fd;
mod auto_traits;
mod byte_stream;
mod deadlines;
mod end_of_runtime;
mod faults;
mod fs_file;
mod fs_inline;
mod fs_paths;
mod fs_support;
mod fs_unflushed;
mod hang_up;
mod hyper_server;
mod idle;
#[cfg(target_os = "linux")]
mod interrupted;
mod names;
mod no_runtime;
mod pipe;
mod process;
mod process_orphans;
#[cfg(target_os = "linux")]
mod process_parents;
mod readiness;
mod reused_numbers;
mod signal;
mod signal_multi;
mod support;
mod tcp_listener;
mod tcp_socket;
mod tcp_split;
mod tcp_stream;
mod udp;
mod udp_setup;
mod unix_datagram;
mod unix_listener;
mod unix_misuse;
mod unix_socket;
mod unix_split;
mod unix_stream;
