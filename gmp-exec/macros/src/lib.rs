//! The attribute macros of `gmp-exec`.
