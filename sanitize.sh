#!/usr/bin/env bash
# Runs the tests of gmp-exec, gmp-io and the drop-in under AddressSanitizer, including leaks, and
# under ThreadSanitizer. `./sanitize.sh address` and `./sanitize.sh thread` run one of the two.
# Takes an hour, so `.ci/run` does not call it.
#
# AddressSanitizer needs a nightly toolchain (`rustup toolchain install nightly`). ThreadSanitizer
# needs a standard library that was compiled with it: it would report each std lock as a race
# otherwise. So sanitizers/rust-with-source.sh fetches a compiler with the source of its library.
set -euo pipefail
cd "$(dirname "$0")"
top=$PWD
host=$(rustc -vV | sed -n 's/^host: //p')

# Runs the tests with the given cargo command, all of them even if one fails.
run_tests() {
    local cargo=("$@" --no-fail-fast --target "$host") failed=0
    "${cargo[@]}" -p gmp-exec --lib --test it -- "${skipped[@]}" || failed=1
    # Random programs for minutes, with every feature but `seeded`, which replaces malloc as sanitizers do.
    local features=insight,macros,blocked-stacks,tracing,taskdump,tokio-thread-names
    GMP_FUZZ_SECS=180 "${cargo[@]}" -p gmp-exec --features "$features" --test it -- random:: || failed=1
    "${cargo[@]}" -p gmp-io --all-features --lib --test it -- "${skipped[@]}" || failed=1
    # Without dufs, which a separate cargo builds: there the flags would affect procedural macros.
    (cd compat-tests/dropin && "${cargo[@]}" --locked -- --skip dufs:: "${skipped[@]}") || failed=1
    return $failed
}

address() {
    # To start a thread takes so long that a task which does is blocked.
    local skipped=(--skip a_program_that_blocks_nobody_reports_nothing)
    # Its own work between two polls is no work of the runtime's.
    skipped+=(--skip polls_add_up_to_the_time)
    # It looks for leaks at the end of a process, with a thread that a filter of system calls kills, and in a
    # copy of a process takes what the other threads have for lost.
    skipped+=(--skip late_filter --skip a_copy_of_the_process_ends_by_itself)
    # It ends a process that can't send itself a signal with its own status.
    skipped+=(--skip a_panic_of_gmp_at_the_beginning_of_a_thread)
    # It needs terabytes of address space, and /proc.
    skipped+=(--skip in_64_mib_of_address_space --skip without_proc)
    export RUSTFLAGS="-Zsanitizer=address" CARGO_TARGET_DIR="$top/target/address-sanitizer"
    export ASAN_OPTIONS=detect_leaks=1
    export LSAN_OPTIONS="suppressions=$top/sanitizers/leaks.txt:print_suppressions=0"
    run_tests cargo +nightly test
}

thread() {
    # ThreadSanitizer has a thread of its own, which wakes up ten times a second.
    local skipped=(--skip makes_no_wake_up --skip hangs_up_costs_nothing)
    skipped+=(--skip leave_nothing_spinning --skip polls_that_block_for_ever_make_no_wake_up)
    # It ends a process that can't send itself a signal with its own status.
    skipped+=(--skip a_panic_of_gmp_at_the_beginning_of_a_thread)
    # Where a thread ends, it asks for the time by a system call, which a filter does not expect.
    skipped+=(--skip a_filter_that_kills_meets_no_call_that_it_does_not_expect)
    # Its own work between two polls is no work of the runtime's, and threads that wait for its locks
    # do so in the kernel.
    skipped+=(--skip polls_add_up_to_the_time --skip a_program_that_blocks_nobody_reports_nothing)
    # It calls a signal's handler when the thread that got the signal next calls libc. A signal to
    # the process reaches the main thread of the tests, which sleeps in a system call of std's own.
    skipped+=(--skip ctrl_c_is_received --skip never_half_of_one)
    # A thread that the signal finds asleep calls nothing: the kernel resumes its wait (SA_RESTART).
    skipped+=(--skip tasks::recording --skip nothing_for_the_answer_before --skip says_so_in_its_name)
    skipped+=(--skip asked::a_program_that_handles_the_signal --skip asked::an_asker_that)
    skipped+=(--skip the_thread_of_a_current_thread_runtime_answers)
    skipped+=(--skip comes_at_every_end --skip written_at_every_end --skip a_summary_of_nothing_says_so)
    skipped+=(--skip a_copy_of_the_process_ends_by_itself)
    # These send a signal to their process, too. The one with little address space needs terabytes of it.
    skipped+=(--skip containers:: --skip the_first_child_and_the_first_signal_need_no_descriptors)
    local rust=$top/target/rust-with-source
    [[ -e $rust/complete ]] || sanitizers/rust-with-source.sh "$rust"
    export LD_LIBRARY_PATH=$rust/usr/lib/$(uname -m)-linux-gnu
    export RUSTC=$rust/usr/bin/rustc CARGO_TARGET_DIR="$top/target/thread-sanitizer"
    # The unstable options below are accepted by a stable compiler only with this.
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=thread"
    # With debug information, the instrumented library makes backtraces so slowly that tests run
    # into their limits; it makes one at each panic during another panic. For reports with line
    # numbers, set CARGO_PROFILE_DEV_DEBUG to 1.
    export RUST_BACKTRACE=0 CARGO_PROFILE_DEV_DEBUG=0
    # These tests find a stack by its lines, which need debug information.
    skipped+=(--skip have_a_stack)
    export TSAN_OPTIONS="suppressions=$top/sanitizers/races.txt"
    find_planted_race "$rust/usr/bin/cargo" run -Zbuild-std
    run_tests "$rust/usr/bin/cargo" test -Zbuild-std
}

# Without this, a run in which ThreadSanitizer can find nothing would look like a clean one.
find_planted_race() {
    local said
    said=$("$@" -p race --target "$host" 2>&1) || true
    # The task is the innermost function. Further out, its name is only a part of a type's.
    if ! grep -A 2 "WARNING: ThreadSanitizer: data race" <<< "$said" | grep "#0 race::race"; then
        echo "ThreadSanitizer did not find the planted race:" "$said" >&2
        return 1
    fi
}

GMP_SOURCES=$top cargo run -p cargo-gmp -- gmp generate
(($# > 0)) || set -- address thread
for sanitizer in "$@"; do
    ("$sanitizer")
done
