#!/usr/bin/env bash
# Installs the servers that the tests start, if they are missing: PostgreSQL, Redis and NATS, from
# Debian's packages.
set -euo pipefail

# Debian keeps PostgreSQL's programs out of the path.
has_postgres() {
    { command -v initdb && command -v postgres; } > /dev/null || compgen -G '/usr/lib/postgresql/*/bin/postgres' > /dev/null
}

missing=()
has_postgres || missing+=(postgresql)
command -v redis-server > /dev/null || missing+=(redis-server)
command -v nats-server > /dev/null || missing+=(nats-server)
if ((${#missing[@]} > 0)); then
    "$(dirname "$0")/../install-packages.sh" "${missing[@]}"
fi
