#!/usr/bin/env bash
# Installs the servers that the tests start themselves, if they are missing: PostgreSQL and Redis, from Debian's packages.
# Needs root, or sudo. Asks no questions.
set -euo pipefail

# Debian keeps PostgreSQL's programs out of the path.
has_postgres() {
    { command -v initdb && command -v postgres; } > /dev/null || compgen -G '/usr/lib/postgresql/*/bin/postgres' > /dev/null
}

missing=()
has_postgres || missing+=(postgresql)
command -v redis-server > /dev/null || missing+=(redis-server)
if ((${#missing[@]} == 0)); then
    exit 0
fi

as_root=()
if ((EUID != 0)); then
    as_root=(sudo)
fi
command -v apt-get > /dev/null || {
    echo "compat-tests need ${missing[*]}; install them, this is not Debian" >&2
    exit 1
}

# In run level 1 the packages' services are not started: the tests bring up servers of their own.
install=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get)
"${as_root[@]}" "${install[@]}" update -q
"${as_root[@]}" "${install[@]}" install -q -y --no-install-recommends "${missing[@]}"
