//! Third-party crates on gmp, one small real program each.
//!
//! Empty so far: hyper and axum are exercised where their adapters live, in the tests of gmp-io.
