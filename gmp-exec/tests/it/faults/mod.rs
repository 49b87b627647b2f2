//! Faults outside of the executor: panics in all user code, misuse, a lack of threads, and shutdown
//! at any moment.

mod hooks;
mod misuse;
mod no_memory;
mod no_pids;
mod no_threads;
mod payloads;
#[cfg(target_os = "linux")]
mod scheduler_panics;
mod shutdown;
mod task_panics;
mod waker_panics;

use gmp_exec::runtime::{Builder, Runtime};

use crate::support::{current, every_runtime, message, multi, panic_message};

fn every_kind() -> Vec<Builder> {
    vec![current(), multi(1), multi(2), multi(8)]
}

fn is_current(runtime: &Runtime) -> bool {
    runtime.handle().runtime_flavor() == gmp_exec::runtime::RuntimeFlavor::CurrentThread
}
