//! gmp-io from outside: real sockets on real runtimes of both flavours.

mod adapter_hyper;
mod api_auto_traits;
mod async_fd;
mod async_fd_registration;
#[cfg(all(target_os = "linux", not(gmp_portable)))]
mod containers;
#[cfg(all(target_os = "linux", not(gmp_portable)))]
#[path = "../../../gmp-exec/tests/it/filter.rs"]
#[expect(dead_code, reason = "not all filters are needed here")]
mod filter;
mod fs_cancelled;
mod fs_file;
mod fs_inline;
#[cfg(target_os = "linux")]
mod fs_no_threads;
mod fs_paths;
mod fs_pending_writes;
mod fs_replaced;
mod fs_support;
#[cfg(all(target_os = "linux", not(gmp_portable)))]
mod late_filter;
mod net_byte_stream;
mod net_hang_up;
mod net_names;
mod process;
#[cfg(all(target_os = "linux", not(target_env = "musl")))]
mod process_descriptors;
mod process_orphans;
#[cfg(target_os = "linux")]
mod process_parents;
#[cfg(target_os = "linux")]
mod reactor_asked;
mod reactor_broken;
mod reactor_faults;
mod reactor_idle;
#[cfg(target_os = "linux")]
mod reactor_interrupted;
mod reactor_readiness;
mod reactor_reused_numbers;
mod reactor_timers;
mod runtime_end;
mod runtime_missing;
mod signal;
mod signal_runtimes;
mod support;
mod tcp_listener;
mod tcp_socket;
mod tcp_split;
mod tcp_stream;
mod udp;
mod udp_setup;
mod unix_datagram;
mod unix_listener;
mod unix_pipe;
mod unix_runtime_missing;
mod unix_socket;
mod unix_split;
mod unix_stream;
