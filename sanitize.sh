#!/usr/bin/env bash
# The tests of gmp-exec, gmp-io and the drop-in under AddressSanitizer (with leaks) and ThreadSanitizer. Needs a nightly
# toolchain: `rustup toolchain install nightly`. Takes too long for every change (see CONTRIBUTING), so `.ci/run` does not call it.
#
#     ./sanitize.sh [address|thread ...]
set -euo pipefail
cd "$(dirname "$0")"
target=$(rustc -vV | sed -n 's/^host: //p')
export ASAN_OPTIONS=detect_leaks=1 LSAN_OPTIONS="suppressions=$PWD/sanitizers/leaks.txt:print_suppressions=0"
export TSAN_OPTIONS="suppressions=$PWD/sanitizers/races.txt:halt_on_error=0"

run() { # sanitizer, flags, folder, arguments of cargo test
    (
        cd "$3"
        RUSTFLAGS="-Zsanitizer=$1 $2" CARGO_TARGET_DIR="$OLDPWD/target/$1-sanitizer" \
            cargo +nightly test --target "$target" "${@:4}"
    )
}

for sanitizer in "${@:-address thread}"; do
    # Under ThreadSanitizer the locks are parking_lot's, which it sees without a rebuilt standard library.
    flags=$([ "$sanitizer" = thread ] && echo "--cfg tsan" || true)
    run "$sanitizer" "$flags" . -p gmp-exec --lib --test it
    run "$sanitizer" "$flags" . -p gmp-io --all-features --lib --test it
    run "$sanitizer" "$flags" compat-tests/dropin --locked
done
