#!/usr/bin/env bash
# Format, lints, docs, and the listing of the public API: what fails first and costs least.
set -euo pipefail
cd "$(dirname "$0")"

cargo fmt --all --check
# The separate workspaces. `cargo fmt` would ask cargo for their packages, which later steps generate.
git ls-files 'compat-tests/dropin/*.rs' 'compat-tests/console/*.rs' 'compat-tests/console-on-tokio/*.rs' \
    'examples/*.rs' 'gmp-exec/lines/on-tokio/*.rs' | xargs rustfmt --edition 2024 --check
cargo clippy --workspace --all-targets --all-features -- -D warnings
# gmp-exec without its drawings, for programs that ask for that.
cargo clippy -p gmp-exec --all-targets --no-default-features --features macros -- -D warnings
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --all-features
# Links between private items. Public docs need some of the explicit targets that this calls redundant.
RUSTDOCFLAGS="-D warnings -A rustdoc::redundant_explicit_links" \
    cargo doc -p gmp-exec -p gmp-insight -p gmp-io --no-deps --all-features --document-private-items

# The public API of gmp-exec and gmp-io is the committed one.
cargo run -p gmp-conformance -- listing
