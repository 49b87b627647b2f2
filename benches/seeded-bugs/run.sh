#!/usr/bin/env bash
# Each published race under so many seeds (1000), with the crates that have it and those that have not.
# Further arguments are options of `cargo gmp test`.
set -euo pipefail
cd "$(dirname "$0")"
kept=$(mktemp)
trap 'rm -f "$kept" {bad,half-fixed,fixed,gossip-bad,gossip-fixed}/gmp-seeds.txt' EXIT
for versions in bad half-fixed fixed gossip-bad gossip-fixed; do
    # A seed that was kept would be found at once.
    rm -f "$versions/gmp-seeds.txt"
    status=0
    (cd "$versions" && cargo gmp test --seeds "${1:-1000}" --first-seed 1 --no-fail-fast "${@:2}") > "$kept" || status=$?
    # 101: a test has failed, which is what the bad versions are for.
    if ((status != 0 && status != 101)); then exit "$status"; fi
    echo "$versions:"
    grep -E '^(FAILED|[0-9]+ passed|[0-9]+ runs)' "$kept"
done
