#!/usr/bin/env bash
# Runs all tests, or only the named parts: `./test.sh workspace dropin`. Needs the toolchain;
# installs the servers that compat-tests start, and valgrind. nightly.sh runs what depends on
# published versions.
set -euo pipefail
cd "$(dirname "$0")"

# In this order. The models run beside the others.
parts=(models workspace portable crates programs dropin console conformance)
# The process group of the models, once they run.
models_job=""

# Beside the rest and at the lowest priority, so that tests of time don't wait for it. In a process
# group of its own, which ends with this script. (In a session of its own, its priority would count
# only there.)
models() {
    mkdir -p target
    set -m
    nice -n 19 ./models.sh > target/models.log 2>&1 < /dev/null &
    models_job=$!
    set +m
    trap 'kill -- "-$models_job" 2> /dev/null || true' EXIT
}

# The models have printed nothing yet.
wait_for_models() {
    local result=0
    wait "$models_job" || result=$?
    trap - EXIT
    cat target/models.log
    return "$result"
}

# Unit, integration and documentation tests.
workspace() {
    cargo test --workspace --exclude compat-tests --exclude cut-off-tests --exclude order-tests --all-features
}

# gmp-io without Linux's system calls: the fallbacks for other Unixes in gmp-io/src/sys.
portable() {
    RUSTFLAGS="--cfg gmp_portable" CARGO_TARGET_DIR=target/portable cargo test -p gmp-io --lib --test it
}

# Real crates. By themselves: the features that they enable in shared dependencies must not help the
# tests of the workspace.
crates() {
    compat-tests/setup.sh
    cargo test -p compat-tests
}

# Random programs on gmp and on tokio: those that are cut off at random moments, and those whose
# order must be tokio's. By themselves for the same reason: they enable tokio's own runtime.
programs() {
    cargo test -p cut-off-tests -p order-tests
}

# Crates that call tokio by name, and a program, on the drop-in. cargo reads the patch and its
# configuration in that folder.
dropin() {
    compat-tests/setup.sh
    generate_dropin
    (cd compat-tests/dropin && cargo test --locked)
}

# What tokio-console shows of programs on the drop-in; of ten of them the same as on tokio.
console() {
    generate_dropin
    (cd compat-tests/console && cargo test --locked)
}

generate_dropin() {
    GMP_SOURCES=$PWD cargo run -p cargo-gmp -- gmp generate
}

# tokio's own tests on the drop-in, and its public items.
conformance() {
    cargo run -p gmp-conformance
    cargo run -p gmp-conformance -- api
}

main() {
    command -v valgrind > /dev/null || ./install-packages.sh valgrind
    local part times=""
    for part; do
        SECONDS=0
        "$part"
        times+=$(printf '%-12s %2d:%02d' "$part" $((SECONDS / 60)) $((SECONDS % 60)))$'\n'
    done
    SECONDS=0
    [[ -z $models_job ]] || wait_for_models
    echo "minutes:"$'\n'"${times}waited for the models: $SECONDS s"
}

for part; do
    [[ " ${parts[*]} " == *" $part "* ]] || {
        echo "no part of the tests: $part; these are: ${parts[*]}" >&2
        exit 2
    }
done
(($# > 0)) || set -- "${parts[@]}"
main "$@"
