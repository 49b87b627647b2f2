//! Side by side: gmp and tokio in one process run.
fn main() {}
