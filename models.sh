#!/usr/bin/env bash
# What no clock decides: the models of the protocols, and the costs that are counted instead of
# measured. test.sh runs this beside the other tests.
set -euo pipefail
cd "$(dirname "$0")"

# The protocols, one by one, in every interleaving (loom).
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom LOOM_MAX_PREEMPTIONS=3 \
    cargo test --release -p gmp-exec --lib loom_

# The whole scheduler, in random order (shuttle).
RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test --release -p gmp-exec --lib shuttle_

# The cache lines that change hands between 8, 16 and 64 simulated cores, against the committed
# figures.
RUSTFLAGS="--cfg shuttle --cfg gmp_lines" CARGO_TARGET_DIR=target/shuttle \
    cargo test --release -p gmp-exec -p gmp-lines --lib lines_ -- --nocapture

# The instructions of the hot paths, against the committed figures.
cargo run --release -p gmp-micro
