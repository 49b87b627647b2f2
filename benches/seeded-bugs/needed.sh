#!/usr/bin/env bash
# How many seeds each published race needs: the first one that fails from each of ten starts, each for
# so many seeds (1000) and seconds (6) at most. `./needed.sh PROGRAM [TEST...]`, where PROGRAM is the test program that
# `./run.sh` has built, `bad/target/gmp/seeds/programs/debug/deps/seeded_bugs_bad-*`.
set -euo pipefail
program=$1
shift
(($# > 0)) || mapfile -t tests < <("$program" --list --format terse | sed -n 's/: test$//p')
for test in "${@:-${tests[@]}}"; do
    found=()
    runs=0
    for start in {0..9}; do
        end=$((SECONDS + ${LIMIT:-6}))
        needed=-
        for ((number = 1; number <= ${SEEDS:-1000} && SECONDS < end; number++)); do
            runs=$((runs + 1))
            seed=$(printf '%x' $((start * 0x100000 + number - 1)))
            if ! GMP_SEED=$seed timeout 60 setarch -R "$program" "$test" --exact --nocapture > /dev/null 2>&1; then
                needed=$number
                break
            fi
        done
        found+=("$needed")
    done
    echo "$test: ${found[*]} ($runs runs)"
done
