//! The tests at the end of the examples, in one binary.

#![allow(dead_code, reason = "nothing calls an example's `main` here")]

#[path = "../examples/blocking_library.rs"]
mod blocking_library;
#[path = "../examples/graceful_shutdown.rs"]
mod graceful_shutdown;
