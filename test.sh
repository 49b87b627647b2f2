#!/usr/bin/env bash
# Runs all tests. Needs the toolchain; installs the servers that compat-tests start, and valgrind.
set -euo pipefail
cd "$(dirname "$0")"

# The workspace: unit, integration and documentation tests.
cargo test --workspace --exclude compat-tests --exclude cut-off-tests --exclude order-tests --all-features

# gmp-io without Linux's system calls: the fallbacks for other Unixes in gmp-io/src/sys.
RUSTFLAGS="--cfg gmp_portable" CARGO_TARGET_DIR=target/portable cargo test -p gmp-io --lib --test it

# Real crates. By themselves: the features that they enable in shared dependencies must not help the
# tests above.
compat-tests/setup.sh
cargo test -p compat-tests

# Random programs on gmp and on tokio: those that are cut off at random moments, and those whose
# order must be tokio's. By themselves for the same reason: they enable tokio's own runtime.
cargo test -p cut-off-tests -p order-tests

# Crates that call tokio by name, and a program, on the drop-in. cargo reads the patch and its
# configuration in that folder.
GMP_SOURCES=$PWD cargo run -p cargo-gmp -- gmp generate
(cd compat-tests/dropin && cargo test --locked)
# What tokio-console shows of programs on the drop-in.
(cd compat-tests/console && cargo test --locked)

# The lowest versions that each dependency may have in an older lock file, and each feature of the
# drop-in alone.
gmp-tokio/lowest-versions.sh

# tokio's own tests on the drop-in, and its public items.
cargo run -p gmp-conformance
cargo run -p gmp-conformance -- api
# The public items that `--cfg tokio_unstable` adds. tokio's tests of those are not here yet: some of
# them read metrics while other threads change them (`gmp-conformance unstable`).
cargo run -p gmp-conformance -- unstable api

# The protocols, one by one, in every interleaving (loom).
RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom LOOM_MAX_PREEMPTIONS=3 \
    cargo test --release -p gmp-exec --lib loom_

# The whole scheduler, in random order (shuttle).
RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test --release -p gmp-exec --lib shuttle_

# The cache lines that change hands between 8, 16 and 64 simulated cores, against the committed
# figures.
RUSTFLAGS="--cfg shuttle --cfg gmp_lines" CARGO_TARGET_DIR=target/shuttle \
    cargo test --release -p gmp-exec --lib lines_ -- --nocapture

# The instructions of the hot paths, against the committed figures.
command -v valgrind > /dev/null || ./install-packages.sh valgrind
cargo run --release -p gmp-micro

# The micro-benchmarks of the parts: each runs once.
RUSTFLAGS="--cfg gmp_bench" CARGO_TARGET_DIR=target/gmp_bench cargo test -p gmp-micro --bench parts
