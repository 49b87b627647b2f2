#!/bin/sh
# The latency of a service with each tool for stuck tasks off and on: the service `worker`, built by
# `cargo gmp`, gets 1 000 requests a second, whether it answers in time or not. Needs oha and a quiet machine,
# and takes 2.5 minutes after the build.
#
#     ./tools.sh [SECONDS [ROUNDS]]
#
# SERVICES and CARGO_GMP name a built program and a built `cargo-gmp`; without them both are built here.
set -eu
cd "$(dirname "$0")"
seconds=${1:-5} rounds=${2:-3}
if [ -z "${CARGO_GMP:-}" ]; then
    cargo build --quiet --release --manifest-path ../../Cargo.toml -p cargo-gmp
    CARGO_GMP=${CARGO_TARGET_DIR:-../../target}/release/cargo-gmp
fi
if [ -z "${SERVICES:-}" ]; then
    "$CARGO_GMP" gmp build --quiet --release --locked
    SERVICES=${CARGO_TARGET_DIR:-target}/gmp/release/gmp-services
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/stdin"

# ask EACH_SECOND: asks the server again and again; nothing if that is empty.
ask() {
    while [ -n "$1" ] && kill -0 "$server" 2> /dev/null; do
        # shellcheck disable=SC2086 # several words
        if ! "$CARGO_GMP" gmp $1 "$server" > "$folder/answer" 2> "$folder/error" && kill -0 "$server" 2> /dev/null; then
            cat "$folder/error" >> "$folder/errors"
        fi
        sleep 1
    done
}

# measure NAME EACH_SECOND SETTING...: one line, the name, p50, p99 and the longest in microseconds.
measure() {
    name=$1 each_second=$2
    shift 2
    : > "$folder/stdout"
    env "$@" "$SERVICES" serve worker < "$folder/stdin" > "$folder/stdout" 2> "$folder/stderr" &
    server=$!
    exec 3> "$folder/stdin"
    until [ -s "$folder/stdout" ]; do sleep 0.1; done
    (exec 3>&- && ask "$each_second") &
    asker=$!
    oha --no-tui --output-format json -z "${seconds}s" -q 1000 -c 32 --latency-correction \
        "http://$(head -n 1 "$folder/stdout")/job" > "$folder/json"
    exec 3>&-
    wait "$server" || true
    wait "$asker" || true
    # In JSON, microseconds of a number in the first object of that name.
    us() {
        tr -d ' \n' < "$folder/json" | sed -E "s/.*\"$1\":\{([^}]*)\}.*/\1/; s/.*\"$2\":([0-9.e-]+).*/\1/" |
            awk '{ printf "%.0f", $1 * 1e6 }'
    }
    echo "$name	$(us latencyPercentiles p50)	$(us latencyPercentiles p99)	$(us summary slowest)" >> "$folder/rows"
}

for round in $(seq "$rounds"); do
    echo "round $round of $rounds" >&2
    measure "nothing set, not asked" "" A=
    measure "\`tasks\` each second" "tasks" A=
    measure "\`tasks --lines\` each second" "tasks --lines" A=
    measure "\`blocked\` each second" "blocked" A=
    measure "\`GMP_BLOCKED=print,summary,signal\`" "" GMP_BLOCKED=print,summary,signal
    measure "\`GMP_TRACE\`" "" GMP_TRACE="$folder/trace"
    measure "\`GMP_LEAKS=warn\`" "" GMP_LEAKS=warn
    measure "\`GMP_DEADLOCK_AFTER=60\`, \`GMP_DEBUG=sigquit=1\`" "" GMP_DEADLOCK_AFTER=60 GMP_DEBUG=sigquit=1
    measure "all of these settings, and \`tasks\` each second" "tasks" GMP_BLOCKED=print,summary,signal \
        GMP_TRACE="$folder/trace" GMP_LEAKS=warn GMP_DEADLOCK_AFTER=60 GMP_DEBUG=sigquit=1
done

if [ -s "$folder/errors" ]; then
    echo "not each question was answered:" >&2
    sort "$folder/errors" | uniq -c >&2
fi
echo "| microseconds | p50 | p99 | longest | all p99 |"
echo "|---|---|---|---|---|"
awk -F '\t' '
    !($1 in count) { names[++sides] = $1 }
    { n = ++count[$1]; p50[$1, n] = $2; p99[$1, n] = $3; longest[$1, n] = $4; all[$1] = all[$1] (n > 1 ? ", " : "") $3 }
    function median(values, name, n,    i, j, t, v) {
        for (i = 1; i <= n; i++) v[i] = values[name, i] + 0
        for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        return v[int((n + 1) / 2)]
    }
    END {
        for (s = 1; s <= sides; s++) {
            name = names[s]; n = count[name]
            printf "| %s | %d | %d | %d | %s |\n", name, median(p50, name, n), median(p99, name, n), median(longest, name, n), all[name]
        }
    }' "$folder/rows"
