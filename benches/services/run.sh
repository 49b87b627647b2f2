#!/bin/sh
# Builds the services on tokio and on gmp, and in Go if that is installed, and measures all. The
# arguments are those of `measure` after the builds: ./run.sh --only json --trouble block
set -eu
cd "$(dirname "$0")"
cargo build --release --locked
cargo run --quiet --manifest-path ../../Cargo.toml -p cargo-gmp -- gmp build --release --locked
if command -v go > /dev/null; then
    (cd go && go build -o ../target/release/go-services .)
    set -- --go target/release/go-services "$@"
fi
exec target/release/gmp-services measure target/release/gmp-services target/gmp/release/gmp-services "$@"
