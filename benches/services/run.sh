#!/bin/sh
# Builds the services on tokio and on gmp, and measures both. The arguments are those of `measure`
# after the two builds: ./run.sh --only json --trouble block
set -eu
cd "$(dirname "$0")"
cargo build --release --locked
cargo run --quiet --manifest-path ../../Cargo.toml -p cargo-gmp -- gmp build --release --locked
exec target/release/gmp-services measure target/release/gmp-services target/gmp/release/gmp-services "$@"
