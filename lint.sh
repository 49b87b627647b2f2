#!/usr/bin/env bash
# Format, lints, docs, and the listing of the public API: what fails first and costs least.
set -euo pipefail
cd "$(dirname "$0")"

cargo fmt --all --check
for separate in compat-tests/dropin compat-tests/console compat-tests/console-on-tokio examples/blocking-handler \
    gmp-exec/lines/on-tokio; do
    cargo fmt --manifest-path "$separate/Cargo.toml" --check
done
rustfmt --edition 2024 --check gmp-exec/lines/on-tokio/loom/mod.rs gmp-exec/lines/on-tokio/loom/thread_local.rs
cargo clippy --workspace --all-targets --all-features -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features
# Links between private items. Public docs need some of the explicit targets that this calls redundant.
RUSTDOCFLAGS="-D warnings -A rustdoc::redundant_explicit_links" \
    cargo doc -p gmp-exec -p gmp-io --no-deps --all-features --document-private-items

# The public API of gmp-exec and gmp-io is the committed one.
cargo run -p gmp-conformance -- listing
