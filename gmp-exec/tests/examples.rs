//! The tests at the end of the examples, in one binary.

#![allow(dead_code, reason = "nothing calls an example's `main` here")]

#[path = "../examples/join_set.rs"]
mod join_set;
#[path = "../examples/paused_time.rs"]
mod paused_time;
#[path = "../examples/tasks.rs"]
mod tasks;
#[path = "../examples/timeouts.rs"]
mod timeouts;
#[path = "../examples/worker_pool.rs"]
mod worker_pool;
