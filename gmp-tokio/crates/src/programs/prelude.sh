# The commands that the scripts of programs.toml share. The scripts run in an empty folder, with the
# program in PATH and three free ports in PORT, PORT2 and PORT3. Each started program has a label:
# its output goes to LABEL.out and LABEL.err.

declare -A started

# Empty on tokio. Only programs that a script checks write a trace.
trace=${GMP_DEBUG-}
unset GMP_DEBUG

finish() {
    local status=$?
    ((${#started[@]} == 0)) || kill -KILL "${started[@]}" 2>/dev/null || true
    if ((status != 0)); then
        grep -v '^SCHED ' ./*.out ./*.err | tail -n 60 >&2 || true
    fi
}
trap finish EXIT

# start LABEL PROGRAM ARGUMENT...: starts the program in the background. Such a program would ignore
# Ctrl-C by default.
start() {
    local label=$1
    shift
    GMP_DEBUG=$trace env --default-signal=INT "$@" >"$label.out" 2>"$label.err" </dev/null &
    started[$label]=$!
}

# traced LABEL PROGRAM ARGUMENT...: runs the program to its end. The program must succeed, and must
# run on gmp.
traced() {
    local label=$1
    shift
    GMP_DEBUG=$trace "$@" >"$label.out" 2>"$label.err"
    on_gmp "$label"
}

# stop LABEL [STATUS]: waits until the program runs on gmp, and ends it with Ctrl-C. The program
# must end with that status, or with 0 if none is given.
stop() {
    eventually on_gmp "$1"
    kill -INT "${started[$1]}"
    ended "$1" "${2:-0}"
}

# ended LABEL STATUS: waits for the end of a started program, which must end with that status.
ended() {
    local status=0
    wait "${started[$1]}" || status=$?
    unset "started[$1]"
    ((status == $2)) || {
        echo "$1 has ended with $status" >&2
        return 1
    }
}

# on_gmp LABEL: whether the program has written gmp's trace of the scheduler.
on_gmp() {
    [[ -z $trace ]] || grep -q '^SCHED ' "$1.err" || return 1
    touch on-gmp
}

# eventually COMMAND ARGUMENT...: repeats the command until it succeeds.
eventually() {
    local end=$((SECONDS + 60))
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || {
            echo "never: $*" >&2
            return 1
        }
        sleep 0.05
    done
}

# all PID...: waits for these processes, which must succeed.
all() {
    local pid
    for pid in "$@"; do
        wait "$pid"
    done
}

# fails COMMAND ARGUMENT...: the command must not succeed.
fails() {
    if "$@" >/dev/null 2>&1; then
        echo "succeeds: $*" >&2
        return 1
    fi
}

# listens PORT: whether a program accepts connections at the port.
listens() {
    (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# fetch PATH [OPTION...]: fetches the path from the HTTP server at PORT. A status of 400 or above is
# a failure.
fetch() {
    local path=$1
    shift
    curl --silent --show-error --fail --max-time 120 "$@" "http://127.0.0.1:$PORT/$path"
}

# some BYTES: prints that many bytes, with no short repetition.
some() {
    seq 1 "$1" | head -c "$1" || true
}
