//! `cargo gmp run`: builds and runs a program written against tokio on gmp, without a change to it.
//!
//! tokio is replaced for the whole dependency graph by the package in `gmp-tokio`, through `[patch.crates-io]`. What
//! depends on no executor (`sync`, the traits and helpers of `io`, the macros) is tokio's own code, which is not in this
//! repository: [`tokio_real`] makes a package of it from the one that cargo downloads.

#![forbid(unsafe_code)]

pub mod cargo;
pub mod tokio_real;
