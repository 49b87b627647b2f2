#!/usr/bin/env bash
# Installs the named Debian packages, for the tests. Needs root, or sudo. Asks no questions.
set -euo pipefail

as_root=()
if ((EUID != 0)); then
    as_root=(sudo)
fi
command -v apt-get > /dev/null || {
    echo "the tests need $*; install them, this is not Debian" >&2
    exit 1
}

# In run level 1 the packages' services are not started: the tests start their own servers.
install=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get)
"${as_root[@]}" "${install[@]}" update -q
"${as_root[@]}" "${install[@]}" install -q -y --no-install-recommends "$@"
