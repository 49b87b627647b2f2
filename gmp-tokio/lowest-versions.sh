#!/usr/bin/env bash
# Compiles gmp-exec, gmp-io and the drop-in with the lowest versions that their manifests allow.
#
# A program's lock file may be years old. What gmp asks for beyond need, `cargo gmp` has to move
# there. So the requirements are as low as compiles, and this is what says so. Needs no nightly: the
# variable unlocks the option in a stable cargo, and is set only while versions are chosen, not for
# the compiler.
#
# The workspaces' own manifests won't do: other members and dev-dependencies would raise what is
# chosen. So the packages are put into workspaces of their own, without dev-dependencies, with links
# to the sources.
set -euo pipefail
cd "$(dirname "$0")/.."

top=$PWD
target=${CARGO_TARGET_DIR:-$top/target}/lowest

# put WORKSPACE PACKAGE...: the packages' folders, as they lie in the repository.
put() {
    local workspace=$target/$1 package
    shift
    rm -rf "$workspace"
    for package in "$@"; do
        mkdir -p "$workspace/$package"
        without '^\\[(.*\\.)?dev-dependencies' "$package/Cargo.toml" > "$workspace/$package/Cargo.toml"
        ln -s "$top/$package/src" "$workspace/$package/src"
    done
}

# without PATTERN FILE: the file without the tables whose headings match.
without() {
    awk -v pattern="$1" '/^\[/ { is_left_out = $0 ~ pattern } !is_left_out' "$2"
}

# members PACKAGE...: the repository's workspace, with these members and no other.
members() {
    printf '[workspace]\nresolver = "3"\nmembers = ['
    printf '"%s", ' "$@"
    printf ']\n\n'
    without '^\\[workspace\\]' Cargo.toml
}

# check WORKSPACE OPTION...: chooses the lowest versions and compiles. A warning is an error: with
# async-task 4.4 a method that wraps one of that name, which isn't there yet, compiles and calls
# itself.
check() {
    local manifest=$target/$1/Cargo.toml
    shift
    RUSTC_BOOTSTRAP=1 cargo generate-lockfile --quiet -Z direct-minimal-versions --manifest-path "$manifest"
    RUSTFLAGS="-D warnings" cargo check --quiet --locked --manifest-path "$manifest" --target-dir "$target/built" "$@"
}

put executor gmp-exec gmp-exec/macros
members gmp-exec gmp-exec/macros > "$target/executor/Cargo.toml"
check executor --workspace

# With gmp-io as the drop-in has it: what it asks for is the same (a test of cargo-gmp's), and its
# adapters, which would raise that, are not there.
GMP_SOURCES=$top cargo run --quiet -p cargo-gmp -- gmp generate
put drop-in gmp-exec gmp-exec/macros gmp-io gmp-tokio gmp-tokio/io gmp-tokio/tokio-real
members gmp-exec gmp-exec/macros > "$target/drop-in/Cargo.toml"
check drop-in/gmp-tokio --features full,test-util

# Each feature alone, with the same flags: many have them in CI, and a folder's package gets no
# --cap-lints.
for feature in '' fs io-std io-util macros net parking_lot process rt rt-multi-thread signal sync test-util time; do
    check drop-in/gmp-tokio --features "$feature"
done
