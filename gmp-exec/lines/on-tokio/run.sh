#!/usr/bin/env bash
# Counts the cache lines that change hands in tokio's scheduler. tokio gets all of its atomics,
# locks and threads from its module `loom`. This makes a copy of tokio's package, as cargo has
# fetched it, replaces the copy's module by the one in `loom/`, and runs the scenarios on the copy.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../../.. && pwd)
work=$root/target/lines-on-tokio

package=$(cargo metadata --format-version 1 --manifest-path "$root/Cargo.toml" |
    grep -o '"manifest_path":"[^"]*/tokio-[0-9.]*/Cargo.toml"' | head -n 1 | cut -d '"' -f 4)
rm -rf "$work/tokio"
mkdir -p "$work"
cp -r "$(dirname "$package")" "$work/tokio"
rm -r "$work/tokio/src/loom"
cp -r loom "$work/tokio/src/loom"
mv "$work/tokio/src/loom/thread_local.rs" "$work/tokio/src/macros/"
# The shard of a task follows from its id. So the counter of ids must not be a static, which would
# depend on other runs.
sed -i 's/{AtomicU64, Ordering::Relaxed}/{IdCounter as AtomicU64, Ordering::Relaxed}/' "$work/tokio/src/runtime/task/id.rs"
grep -q IdCounter "$work/tokio/src/runtime/task/id.rs"
printf '\n[dependencies.gmp-lines]\npath = "%s"\n' "$root/gmp-exec/lines" >> "$work/tokio/Cargo.toml"

RUSTFLAGS="--cfg shuttle --cfg gmp_lines" CARGO_TARGET_DIR=$work/target cargo run --release "$@"
