#!/usr/bin/env bash
# Compiles gmp-exec, gmp-io and the drop-in with the lowest versions that their manifests allow.
#
# A program's lock file may be years old, and `cargo gmp` has to move every package that is too old
# for gmp. So gmp's requirements are as low as its code allows, and this script checks that they are
# correct. It needs no nightly: the variable unlocks the option in a stable cargo, and is set only
# while cargo chooses versions, not for the compiler.
#
# The workspaces' own manifests can't be used: other members and dev-dependencies would raise the
# chosen versions. So the script puts the packages into generated workspaces, without
# dev-dependencies and tests, with links to the sources.
set -euo pipefail
cd "$(dirname "$0")/.."

top=$PWD
target=${CARGO_TARGET_DIR:-$top/target}/lowest

# put WORKSPACE PACKAGE...: makes the packages' folders, with the same paths as in the repository.
put() {
    local workspace=$target/$1 package
    shift
    rm -rf "$workspace"
    for package in "$@"; do
        mkdir -p "$workspace/$package"
        without '^\\[((.*\\.)?dev-dependencies|\\[test)' "$package/Cargo.toml" > "$workspace/$package/Cargo.toml"
        ln -s "$top/$package/src" "$workspace/$package/src"
    done
}

# without PATTERN FILE: prints the file without the tables whose headings match.
without() {
    awk -v pattern="$1" '/^\[/ { is_left_out = $0 ~ pattern } !is_left_out' "$2"
}

# members PACKAGE...: prints the repository's workspace with only these members.
members() {
    printf '[workspace]\nresolver = "3"\nmembers = ['
    printf '"%s", ' "$@"
    printf ']\n\n'
    without '^\\[workspace\\]' Cargo.toml
}

# check WORKSPACE OPTION...: chooses the lowest versions and compiles. A warning is an error:
# async-task 4.4 lacks a method that one of ours wraps under the same name, so ours compiles there,
# with a warning, and calls itself.
check() {
    local manifest=$target/$1/Cargo.toml
    shift
    RUSTC_BOOTSTRAP=1 cargo generate-lockfile --quiet -Z direct-minimal-versions --manifest-path "$manifest"
    RUSTFLAGS="-D warnings" cargo check --quiet --locked --manifest-path "$manifest" --target-dir "$target/built" "$@"
}

put executor gmp-exec gmp-exec/insight gmp-exec/macros
members gmp-exec gmp-exec/insight gmp-exec/macros > "$target/executor/Cargo.toml"
check executor --workspace
check executor --package gmp-exec --features tracing

# The drop-in's manifest of gmp-io is used here. Its requirements are the same as in gmp-io's own (a
# test of cargo-gmp's checks that), and it has no adapters, which would raise the versions.
GMP_SOURCES=$top cargo run --quiet -p cargo-gmp -- gmp generate
put drop-in gmp-exec gmp-exec/insight gmp-exec/macros gmp-io gmp-tokio gmp-tokio/io gmp-tokio/tokio-real
members gmp-exec gmp-exec/insight gmp-exec/macros > "$target/drop-in/Cargo.toml"
check drop-in/gmp-tokio --features full,test-util

# Each feature alone, with the same flags: many users set them in CI, and a package from a folder
# gets no --cap-lints.
for feature in '' fs io-std io-util macros net parking_lot process rt rt-multi-thread signal sync test-util time; do
    check drop-in/gmp-tokio --features "$feature"
done
