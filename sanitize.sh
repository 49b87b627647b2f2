#!/usr/bin/env bash
# Runs the tests of gmp-exec, gmp-io and the drop-in under AddressSanitizer, including leaks. Needs
# a nightly toolchain (`rustup toolchain install nightly`). Takes half an hour, so `.ci/run` does
# not call it.
#
# ThreadSanitizer is not used: it reports all synchronisation inside the standard library as races
# unless the library is rebuilt with it, which needs the library's source. loom and shuttle check
# the protocols (test.sh).
set -euo pipefail
cd "$(dirname "$0")"
host=$(rustc -vV | sed -n 's/^host: //p')
export RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR="$PWD/target/address-sanitizer"
export ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS="suppressions=$PWD/sanitizers/leaks.txt:print_suppressions=0"

cargo +nightly test --target "$host" -p gmp-exec --lib --test it
cargo +nightly test --target "$host" -p gmp-io --all-features --lib --test it
env -u RUSTFLAGS -u CARGO_TARGET_DIR GMP_SOURCES="$PWD" cargo run -p cargo-gmp -- gmp generate
# Without dufs, which a separate cargo builds: there the flags would affect procedural macros.
(cd compat-tests/dropin && cargo +nightly test --target "$host" --locked -- --skip dufs::)
