#!/bin/sh
# rustc, with a call of `__sanitizer_cov_trace_pc_guard` in each basic block of all crates that end in the
# program, but for gmp's. Those are optimised, because without that rustc would take instances of std's
# generic functions from crates that have the calls.
for argument; do
    case $argument in
        --target | --target=*) is_for_target=1 ;;
        gmp_exec | gmp_io | gmp_insight) is_gmp=1 ;;
    esac
done
if [ -n "$is_gmp" ]; then
    set -- "$@" -Copt-level=3
elif [ -n "$is_for_target" ]; then
    set -- "$@" -Cpasses=sancov-module "-Clink-arg=${0%/*}/preempt.o" \
        -Cllvm-args=-sanitizer-coverage-level=3 -Cllvm-args=-sanitizer-coverage-trace-pc-guard
fi
exec "$@"
