//! What gmp-exec has observed, in the formats that people and their tools read.
//!
//! gmp-exec observes, and passes plain data. This crate does not know gmp-exec, and acts on nothing.
//! It is a part of gmp-exec, is published together with it, and promises no stable API.

#![forbid(unsafe_code)]

pub mod perfetto;
pub mod prometheus;
#[cfg(all(feature = "stacks", target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod stack;
