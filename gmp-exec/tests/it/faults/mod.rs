//! What goes wrong around the executor: panics everywhere, misuse, no threads, and the end of the runtime at any moment.

mod hooks;
mod misuse;
mod no_threads;
mod payloads;
mod shutdown;
mod task_panics;
mod waker_panics;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gmp_exec::runtime::{Builder, Runtime};

use crate::support::{current, multi};

fn every_kind() -> Vec<Builder> {
    vec![current(), multi(1), multi(2), multi(8)]
}

fn every_runtime() -> Vec<Runtime> {
    every_kind().iter_mut().map(|builder| builder.build().unwrap()).collect()
}

/// What `f` panics with.
fn panic_message<T>(f: impl FnOnce() -> T) -> String {
    match catch_unwind(AssertUnwindSafe(f)) {
        Ok(_) => panic!("it did not panic"),
        Err(payload) => message(&*payload),
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied().map(str::to_owned);
    text.or_else(|| payload.downcast_ref::<String>().cloned()).expect("a panic with a message")
}

fn is_current(runtime: &Runtime) -> bool {
    runtime.handle().runtime_flavor() == gmp_exec::runtime::RuntimeFlavor::CurrentThread
}
