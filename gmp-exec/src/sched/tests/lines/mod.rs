//! How many cache lines change hands: a budget for the real scheduler, with 8, 16 and 64
//! processors.
//!
//! Each row of `gmp-exec/lines.toml` is a scenario (`scenarios`), each number the transfers of one
//! operation: accesses for which another core must be asked (`sync::lines` has the model, and what
//! it does not see). Runs are seeded, and their clock is simulated. A number is the mean of runs with
//! different seeds, because memory begins at a different place in a line in each run.
//!
//! ```sh
//! export RUSTFLAGS="--cfg shuttle --cfg gmp_lines" CARGO_TARGET_DIR=target/shuttle
//! cargo test --release -p gmp-exec --lib lines_ -- --nocapture                    # checks the table
//! GMP_LINES=update cargo test --release -p gmp-exec --lib lines_                  # writes it
//! GMP_LINES=steal cargo test --release -p gmp-exec --lib lines_ -- --nocapture    # names the lines of a row
//! ```

mod faults;
mod jobs;
mod places;
mod scenarios;
mod stage;
mod table;
mod turns;

use table::{Row, Table};

const PROCESSORS: [usize; 3] = [8, 16, 64];

/// No operation takes more transfers than the committed table allows.
#[test]
fn lines_budget() {
    let wish = std::env::var("GMP_LINES").unwrap_or_default();
    if let Some(&(name, seeds, scenario)) = scenarios::ALL.iter().find(|(name, ..)| *name == wish) {
        return places::print(name, seeds, scenario);
    }
    let measured = Table { rows: jobs::run_all() };
    if wish == "update" {
        return measured.write();
    }
    let committed = Table::read();
    measured.print(&committed);
    let worse: Vec<&Row> = measured.worse_than(&committed).collect();
    assert!(worse.is_empty(), "more lines change hands than gmp-exec/lines.toml allows: {worse:#?}");
}
