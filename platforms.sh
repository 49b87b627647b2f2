#!/usr/bin/env bash
# Builds gmp for other platforms, and runs tests there: `./platforms.sh [TARGET...]`. Programs for
# arm64 run on an emulated computer with a kernel of its own (platforms/machine.sh). It is slow, so
# the integration tests of gmp-exec, whose limits are of time, run on the arm64 runner only (.github).
# Needs Debian on x86-64 and rustup, and fetches all else (platforms/toolchain.sh).
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
        cargo clippy --target "$target" -p gmp-exec -p gmp-io -p cargo-gmp --all-features -- -D warnings
        test_on "$target"
    done
}

test_on() {
    local cargo=(cargo test --no-fail-fast --all-features --target "$1")
    case $1 in
        $arm64-gnu)
            "${cargo[@]}" -p gmp-insight -p gmp-exec --lib
            # That they compile is seen here.
            "${cargo[@]}" -p gmp-exec --test it --no-run
            # Programs are built only where cargo is.
            "${cargo[@]}" -p gmp-exec --test stacks -- --skip profiles --test-threads 1
            "${cargo[@]}" -p gmp-io --test it
            dropins_tests "$1"
            tokios_tests "$1"
            ;;
        $arm64-musl)
            # On the emulated computer most looks find no stack while a turn lasts.
            "${cargo[@]}" -p gmp-exec --lib -- --skip no_stack_that_a_signal_takes
            "${cargo[@]}" -p gmp-exec --test stacks -- --skip profiles --test-threads 1
            "${cargo[@]}" -p gmp-io --test it
            ;;
        *)
            "${cargo[@]}" -p gmp-insight -p gmp-exec --lib
            "${cargo[@]}" -p gmp-exec --test it
            "${cargo[@]}" -p gmp-exec --test stacks -- --skip profiles
            "${cargo[@]}" -p gmp-io --test it
            ;;
    esac
}

# Those that start servers run on this machine's kernel: the servers are for x86-64. `dufs` builds a
# program.
dropins_tests() {
    local servers=(async_nats:: redis:: sqlx:: tokio_postgres::) qemu
    qemu="qemu-aarch64 -L $top/target/platforms/tools/usr/aarch64-linux-gnu"
    compat-tests/setup.sh
    GMP_SOURCES=$top cargo run -p cargo-gmp -- gmp generate
    (
        cd compat-tests/dropin
        cargo test --locked --target "$1" -- ${servers[@]/#/--skip } --skip dufs::
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$qemu cargo test --locked --target "$1" -- "${servers[@]}"
    )
}

# tokio's own tests are compiled here, and each runs there in a process of its own.
tokios_tests() {
    local conformance=$top/gmp-tokio/conformance binaries
    mapfile -t binaries < <(CARGO_PROFILE_DEV_DEBUG=0 cargo run -p gmp-conformance -- --target "$1")
    MACHINE_FILES="${binaries[*]} $conformance.toml $conformance/work/Cargo.toml" \
        cargo run --target "$1" -p gmp-conformance -- --slow --jobs 1 --timeout 1800 ${binaries[@]/#/--binary }
}

(($# > 0)) || set -- $arm64-gnu x86_64-unknown-linux-musl $arm64-musl
main "$@"
