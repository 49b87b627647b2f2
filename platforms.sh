#!/usr/bin/env bash
# Builds gmp for other platforms, and runs tests there: `./platforms.sh [TARGET...]`. Programs for
# arm64 run on an emulated computer with a kernel of its own (platforms/machine.sh). It is slow, so
# the integration tests, whose limits are of time, run on the arm64 runner only (.github). Needs
# Debian on x86-64, and fetches all else (platforms/toolchain.sh).
set -euo pipefail
cd "$(dirname "$0")"
top=$PWD
arm64=aarch64-unknown-linux

main() {
    local folder=$top/target/platforms/tools target
    [[ -e $folder/complete ]] || platforms/toolchain.sh "$folder"
    . platforms/environment.sh "$folder"
    export CARGO_TARGET_DIR=$top/target/platforms
    for target; do
        cargo build --target "$target" -p gmp-exec -p gmp-io -p cargo-gmp
        test_on "$target"
    done
}

test_on() {
    local cargo=(cargo test --no-fail-fast --all-features --target "$1")
    case $1 in
        $arm64-gnu)
            "${cargo[@]}" -p gmp-insight -p gmp-exec --lib
            # That they compile is seen here.
            "${cargo[@]}" -p gmp-exec -p gmp-io --test it --no-run
            # Programs are built only where cargo is.
            "${cargo[@]}" -p gmp-exec --test stacks -- --skip profiles --test-threads 1
            tokios_tests "$1"
            ;;
        $arm64-musl) "${cargo[@]}" -p gmp-exec --lib -- "${asleep_in_musl[@]}" ;;
        *)
            "${cargo[@]}" -p gmp-insight -p gmp-exec --lib
            "${cargo[@]}" -p gmp-exec --test it
            "${cargo[@]}" -p gmp-exec --test stacks -- --skip profiles
            "${cargo[@]}" -p gmp-io --test it
            ;;
    esac
}

# tokio's own tests are compiled here, and each runs there in a process of its own.
tokios_tests() {
    local conformance=$top/gmp-tokio/conformance binaries
    mapfile -t binaries < <(CARGO_PROFILE_DEV_DEBUG=0 cargo run -p gmp-conformance -- --target "$1")
    MACHINE_FILES="${binaries[*]} $conformance.toml $conformance/work/Cargo.toml" \
        cargo run --target "$1" -p gmp-conformance -- --slow --jobs 1 --timeout 1800 ${binaries[@]/#/--binary }
}

# musl has no tables for unwinding; on arm64 there is no stack of a thread that is in its functions.
asleep_in_musl=(--skip is_that_of_another_turn)

(($# > 0)) || set -- $arm64-gnu x86_64-unknown-linux-musl $arm64-musl
main "$@"
