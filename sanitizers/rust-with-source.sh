#!/usr/bin/env bash
# Unpacks Debian's newest Rust into the given folder, together with the source of its standard
# library, so that cargo can rebuild the library (-Zbuild-std). Nothing is installed on the machine.
# rustup's `rust-src` would do as well, where rustup can download it.
set -euo pipefail
folder=$(realpath -m "$1")
packages=$folder/packages
mkdir -p "$packages/partial"

as_root=()
if ((EUID != 0)); then
    as_root=(sudo)
fi
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -q -y --no-install-recommends --download-only \
    -o Dir::Cache::archives="$packages" rustc-web cargo-web rust-web-src
for package in "$packages"/*.deb; do
    dpkg -x "$package" "$folder"
done
rm -rf "$packages"

# Debian leaves out the runtime libraries of the sanitizers. rustup's toolchain has them, and their
# interface to compiled code is the same in all versions of LLVM that matter here.
host=$(rustc -vV | sed -n 's/^host: //p')
cp "$(rustc --print sysroot)/lib/rustlib/$host/lib/librustc-stable_rt.tsan.a" \
    "$folder/usr/lib/rustlib/$host/lib"
touch "$folder/complete"
