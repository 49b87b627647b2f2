//! How many cache lines change hands: a budget for the real scheduler, with 8, 16 and 64
//! processors.
//!
//! Each row of `gmp-exec/lines.toml` is a scenario (`gmp_lines::scenarios`), each number the
//! transfers of one operation: accesses for which another core must be asked (the crate has the
//! model, and what it does not see; not recorded here are, besides, the state words of async-task,
//! event-listener, and std's own lock in `Processor::holder`). Runs are seeded, and their clock is
//! simulated. A number is the mean of runs with different seeds, because memory begins at a
//! different place in a line in each run.
//!
//! ```sh
//! export RUSTFLAGS="--cfg shuttle --cfg gmp_lines" CARGO_TARGET_DIR=target/shuttle
//! # Checks the table; writes it; names the lines of a row.
//! cargo test --release -p gmp-exec --lib lines_ -- --nocapture
//! GMP_LINES=update cargo test --release -p gmp-exec --lib lines_budget
//! GMP_LINES=steal cargo test --release -p gmp-exec --lib lines_budget -- --nocapture
//! ```

mod gmp;
mod repeat;

use std::path::Path;

/// No operation takes more transfers than the committed table allows.
#[test]
fn lines_budget() {
    gmp_lines::budget::<gmp::Gmp>(&Path::new(env!("CARGO_MANIFEST_DIR")).join("lines.toml"));
}
