#!/usr/bin/env bash
# Answers in about three minutes whether a change is worth the whole test command: format, lints,
# unit tests and the layers of gmp-exec, gmp-insight and gmp-io. `./check.sh PATH`, for a file or a
# folder below gmp-exec/src, adds the integration tests and the models of that path.
#
# The table at the beginning of gmp-exec/src/sched/README.md says which those are for a path of the
# scheduler. The tests of another folder (time, dump, ...) have that folder's name.
set -euo pipefail
cd "$(dirname "$0")"

main() {
    cargo fmt --all --check
    cargo clippy -p gmp-exec -p gmp-insight -p gmp-io --all-features --all-targets -- -D warnings
    cargo test -p gmp-exec -p gmp-insight -p gmp-io --all-features --lib
    cargo test -p gmp-exec --test layers
    (($# == 0)) || check_path "$1"
}

check_path() {
    local path=${1#"$PWD/"}
    path=${path#gmp-exec/src/}
    [[ -e gmp-exec/src/$path ]] || fail "there is no gmp-exec/src/$path"
    local tests models
    read -ra tests <<< "$(tests_of "$path")"
    read -ra models <<< "$(names_in 4 "$path" | grep '^loom_' | tr '\n' ' ')"
    echo "$path: integration tests: ${tests[*]:-none}; models: ${models[*]:-none}"
    ((${#tests[@]} == 0)) || cargo test -p gmp-exec --all-features --test it -- "${tests[@]}"
    ((${#models[@]} == 0)) || RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom LOOM_MAX_PREEMPTIONS=3 \
        cargo test --release -p gmp-exec --lib -- "${models[@]}"
}

tests_of() {
    names_in 5 "$1" | sed 's/$/::/' | tr '\n' ' '
    if [[ -e gmp-exec/tests/it/${1%%/*} ]]; then
        echo "${1%%/*}::"
    elif [[ -e gmp-exec/tests/it/$(basename "$1") ]]; then
        echo "$(basename "$1" .rs)::"
    fi
}

# Prints the names of that column in the rows whose files begin with the path, or are the path's
# folder, without the star at the end.
names_in() {
    local column=$1 path
    path=$([[ $2 == sched/* ]] && echo "${2#sched/}" || echo "../$2")
    awk -F '|' -v column=$((column + 1)) -v path="$path" '
        /^## Glossary/ { exit }
        /^\| [0-9]/ {
            count = split($4, files, /[`, ]+/)
            for (i = 1; i <= count; i++) {
                if (files[i] != "" && (index(files[i], path) == 1 || (files[i] ~ /\/$/ && index(path, files[i]) == 1))) {
                    print $column
                    break
                }
            }
        }' gmp-exec/src/sched/README.md | grep -o '`[^`]*`' | tr -d '`*' | sort -u
}

fail() {
    echo "check.sh: $1" >&2
    exit 2
}

main "$@"
