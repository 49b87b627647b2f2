#!/usr/bin/env bash
# Rehearses publishing: packages the crates that users install from a clean clone of the committed
# sources, checks the contents of the packages, and uses cargo-gmp's package in another folder.
#
# Cargo compiles each package from its own files, with the packages of the others as its
# dependencies. Nothing is uploaded. `publish-rehearsal.sh --offline` needs no network after
# everything has been downloaded, and skips the queries to the registry.
set -euo pipefail
cd "$(dirname "$0")"
offline=("$@")
packages=(gmp-insight gmp-macros gmp-exec gmp-io gmp-sim cargo-gmp)

export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/rehearsal
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
    git clone --quiet . "$work/clone"
    rm -rf "$CARGO_TARGET_DIR/package"
    (cd "$work/clone" && cargo package --quiet "${offline[@]}" "${packages[@]/#/--package=}")
    # Once more with the registry's own rules, but without compiling.
    ((${#offline[@]})) || (cd "$work/clone" && cargo publish --dry-run --no-verify --quiet "${packages[@]/#/--package=}")
    for package in "${packages[@]}"; do
        unpack "$package"
        for file in README.md LICENSE-MIT LICENSE-APACHE; do
            test -s "$work/$package/$file" || fail "$package is packaged without $file"
        done
    done
    has_all_sources
    runs_a_program_on_gmp
    echo "packaged: ${packages[*]}"
}

unpack() {
    mkdir "$work/$1"
    tar -xf "$CARGO_TARGET_DIR/package/$1"-*.crate -C "$work/$1" --strip-components=1
}

# Compares the sources that cargo-gmp carries with the clone's.
has_all_sources() {
    local folder
    for folder in gmp-exec/src gmp-exec/insight/src gmp-exec/macros/src gmp-io/src gmp-tokio/src; do
        diff -r "$work/clone/$folder" "$work/cargo-gmp/sources/$folder" || fail "cargo-gmp's $folder is another"
    done
}

# Two tasks that wait for each other without `.await`, on one processor: on tokio this never ends.
runs_a_program_on_gmp() {
    mkdir -p "$work/program/src"
    cat > "$work/program/Cargo.toml" << 'END'
[package]
name = "program"
version = "0.1.0"
edition = "2024"

[dependencies]
tokio = { version = "1", features = ["rt-multi-thread", "macros"] }
END
    cat > "$work/program/src/main.rs" << 'END'
#[tokio::main(worker_threads = 1)]
async fn main() {
    static BOTH: std::sync::Barrier = std::sync::Barrier::new(2);
    let other = tokio::spawn(async { BOTH.wait() });
    tokio::spawn(async { BOTH.wait() }).await.unwrap();
    other.await.unwrap();
}
END
    (cd "$work/cargo-gmp" && cargo build --quiet --locked "${offline[@]}")
    (cd "$work/program" && XDG_CACHE_HOME=$work/cache timeout 300 "$CARGO_TARGET_DIR/debug/cargo-gmp" gmp run --quiet "${offline[@]}") ||
        fail "a program does not run with the packaged cargo-gmp"
}

fail() {
    echo "$1" >&2
    exit 1
}

main
