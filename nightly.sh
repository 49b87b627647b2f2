#!/usr/bin/env bash
# What published versions decide, and what only such versions or rare builds can break. Runs every
# night and before an issue is closed; test.sh doesn't wait for it.
set -euo pipefail
cd "$(dirname "$0")"

# The lowest versions that each dependency may have in an older lock file, and each feature of the
# drop-in alone.
gmp-tokio/lowest-versions.sh

# tokio's own tests and its public items with `--cfg tokio_unstable`.
cargo run -p gmp-conformance -- unstable
cargo run -p gmp-conformance -- unstable api

# The cache lines that change hands in tokio, so that the comparison in docs/many-cores.md stays true.
gmp-exec/lines/on-tokio/run.sh

# What gmp-exec does without its drawings.
cargo test -p gmp-exec --no-default-features --features macros --lib --test it

# The micro-benchmarks of the parts: each runs once.
RUSTFLAGS="--cfg gmp_bench" CARGO_TARGET_DIR=target/gmp_bench cargo test -p gmp-micro --bench parts

# The benches without smol, whose executor changes the size of gmp's tasks.
cargo clippy -p gmp-benches --all-targets --no-default-features -- -D warnings
# The services, on tokio, on gmp and in Go: each answers, whatever goes wrong beside it.
cargo fmt --check --manifest-path benches/services/Cargo.toml
cargo clippy --locked --manifest-path benches/services/Cargo.toml -- -D warnings
benches/services/run.sh --secs 1 --rounds 1
# What only the micro-benchmarks compile.
RUSTFLAGS="--cfg gmp_bench" CARGO_TARGET_DIR=target/gmp_bench \
    cargo clippy -p gmp-exec -p gmp-micro --all-targets -- -D warnings
# The simulation of cache lines.
RUSTFLAGS="--cfg shuttle --cfg gmp_lines" CARGO_TARGET_DIR=target/shuttle \
    cargo clippy -p gmp-lines --all-targets -- -D warnings

# arm64 and musl.
if [[ -e /etc/debian_version && $(uname -m) == x86_64 ]]; then
    ./platforms.sh
fi

# The packages that users install. Offline: everything has been downloaded by now.
./publish-rehearsal.sh --offline
