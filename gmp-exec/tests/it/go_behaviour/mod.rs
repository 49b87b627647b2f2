//! What Go's scheduler promises, and its `proc_test.go` checks, as far as it makes sense for an executor.
//!
//! A goroutine that runs for long is preempted; a poll can't be. So where Go's tests say "a loop", these say "a poll that
//! does not return", and the property is that everybody else goes on, because the processor was taken.

mod fairness;
mod large_numbers;
mod netpoll;
mod parallelism;
mod preemption;
mod timers;
mod yielding;

use gmp_exec::runtime::Runtime;

use crate::support::{current, multi};

fn every_kind() -> Vec<Runtime> {
    vec![current().build().unwrap(), multi(1).build().unwrap(), multi(2).build().unwrap(), multi(8).build().unwrap()]
}
