//! See `run.sh`.

mod subject;

use std::path::Path;

fn main() {
    gmp_lines::report::<subject::Tokio>(&Path::new(env!("CARGO_MANIFEST_DIR")).join("lines.toml"));
}
