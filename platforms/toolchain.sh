#!/usr/bin/env bash
# Makes rustup fetch the standard libraries of the other platforms, and unpacks into the given folder
# what else builds and runs the tests there: compilers and linkers, musl, emulators, and a system for an
# emulated computer. Only rustup installs something on the machine.
set -euo pipefail
folder=$(realpath -m "$1")
arm64=aarch64-linux-gnu
rustup target add {aarch64,x86_64}-unknown-linux-musl aarch64-unknown-linux-gnu

# A list of packages of its own, in which arm64 is an architecture. That of the machine stays.
apt=$folder/apt
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$folder/bin"
cp /var/lib/dpkg/status "$apt/status"
export APT_CONFIG=$apt/config
cat > "$APT_CONFIG" << END
APT::Architectures { "amd64"; "arm64"; };
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
END
apt-get update -q

# Of this machine's architecture.
apt-get install -q -y --no-install-recommends --download-only \
    gcc-$arm64 libc6-dev-arm64-cross musl-dev qemu-system-arm qemu-user cpio
kernel=$(apt-cache depends linux-image-arm64:arm64 | sed -n 's/^ *Depends: //p')
(cd "$apt/cache/archives" && apt-get download -q \
    musl-dev:arm64 busybox-static:arm64 coreutils:arm64 dash:arm64 "$kernel")
for package in "$apt"/cache/archives/*.deb; do
    case ${package##*/} in
        # Only the emulated computer can run these.
        busybox* | coreutils* | dash*) dpkg -x "$package" "$folder/machine" ;;
        *) dpkg -x "$package" "$folder" ;;
    esac
done
rm -rf "$apt" "$folder/lib/modules"

# The names in this file are absolute. The linker finds the files beside it.
sed -i "s#/usr/$arm64/lib/##g" "$folder/usr/$arm64/lib/libc.so"

# C compilers for musl, for dependencies with C code.
c_compiler() {
    local machine=$1 gcc=$2
    local specs=$folder/usr/lib/$machine-linux-musl/musl-gcc.specs
    sed -i "s# /usr/\(include\|lib\)/# $folder/usr/\1/#g; s#-L/usr#-L$folder/usr#" "$specs"
    printf '#!/bin/sh\nexec %s "$@" -specs %s\n' "$gcc" "$specs" > "$folder/bin/$machine-linux-musl-gcc"
    chmod +x "$folder/bin/$machine-linux-musl-gcc"
}
c_compiler x86_64 gcc
c_compiler aarch64 $arm64-gcc
touch "$folder/complete"
