//! The code in the READMEs as documentation tests: it compiles, and it runs.

#[doc = include_str!("../../../README.md")]
mod repository {}

#[doc = include_str!("../../../gmp-exec/README.md")]
mod gmp_exec {}

#[doc = include_str!("../../../gmp-io/README.md")]
mod gmp_io {}

#[doc = include_str!("../../../gmp-exec/insight/README.md")]
mod gmp_insight {}

#[doc = include_str!("../../../gmp-exec/macros/README.md")]
mod gmp_macros {}

#[doc = include_str!("../../../gmp-tokio/cargo-gmp/README.md")]
mod cargo_gmp {}
