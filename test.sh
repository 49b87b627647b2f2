#!/usr/bin/env bash
# Runs all tests. Needs the toolchain; installs the servers that compat-tests start, and valgrind.
set -euo pipefail
cd "$(dirname "$0")"

command -v valgrind > /dev/null || ./install-packages.sh valgrind
# Beside the rest and at the lowest priority, so that tests of time don't wait for it. In a process
# group of its own, which ends with this script. (In a session of its own, its priority would count
# only there.)
mkdir -p target
set -m
nice -n 19 ./models.sh > target/models.log 2>&1 < /dev/null &
models=$!
set +m
trap 'kill -- "-$models" 2> /dev/null || true' EXIT

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
# What tokio-console shows of programs on the drop-in; of ten of them the same as on tokio.
(cd compat-tests/console && cargo test --locked)

# The lowest versions that each dependency may have in an older lock file, and each feature of the
# drop-in alone.
gmp-tokio/lowest-versions.sh

# tokio's own tests on the drop-in, and its public items.
cargo run -p gmp-conformance
cargo run -p gmp-conformance -- api
# The same with `--cfg tokio_unstable`: the tests and the public items that the cfg adds.
cargo run -p gmp-conformance -- unstable
cargo run -p gmp-conformance -- unstable api

# The models have printed nothing yet.
wait "$models" || result=$?
trap - EXIT
cat target/models.log
exit "${result:-0}"
