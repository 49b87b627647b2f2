#!/usr/bin/env bash
# Passes all tests. Needs nothing but the toolchain.
set -euo pipefail
cd "$(dirname "$0")"

# The whole workspace: unit, integration and documentation tests.
cargo test --workspace --all-features

# The protocols, one by one, in every interleaving (loom).
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom LOOM_MAX_PREEMPTIONS=3 \
    cargo test --release -p gmp-exec --lib loom_

# The whole scheduler, in random order (shuttle).
RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test --release -p gmp-exec --lib shuttle_
