//! The public face of gmp-exec, tested from outside.

mod join_set;
mod macros;
