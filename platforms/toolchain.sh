#!/usr/bin/env bash
# Unpacks into the given folder what builds and runs the tests on other platforms: Debian's newest
# Rust with the standard library for arm64, a linker, musl, and an emulator. Nothing is installed on
# the machine. Debian has no standard library for musl, so this script builds that from its source.
#
# Where rustup and the network of its downloads are at hand, `rustup target add` does most of this.
set -euo pipefail
folder=$(realpath -m "$1")
here=$(realpath "$(dirname "$0")")
apt=$folder/apt
rustlib=$folder/usr/lib/rustlib
arm64=aarch64-linux-gnu
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$folder/bin"

# A list of packages of its own, in which arm64 is an architecture. That of the machine stays.
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
    rustc-web cargo-web rust-web-src gcc-$arm64 libc6-dev-arm64-cross musl-dev qemu-system-arm cpio
library=$(basename "$apt"/cache/archives/libstd-rust-web-[0-9]*_amd64.deb)
kernel=$(apt-cache depends linux-image-arm64:arm64 | sed -n 's/^ *Depends: //p')
version=$(cut -d_ -f2 <<< "${library/\%3a/:}")
(cd "$apt/cache/archives" && apt-get download -q \
    "${library%%_*}:arm64=$version" "libstd-rust-web-dev:arm64=$version" musl-dev:arm64 \
    busybox-static:arm64 coreutils:arm64 dash:arm64 "$kernel")
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

. "$here/environment.sh" "$folder"

# What a static program of musl consists of beside Rust's code, where rustc looks for that. GCC's
# unwinder is in place of LLVM's, together with the functions that GCC calls in C code of dependencies.
self_contained() {
    local machine=$1 gcc=$2 compiler=$3
    local to=$rustlib/$machine-unknown-linux-musl/lib/self-contained
    mkdir -p "$to"
    cp "$folder/usr/lib/$machine-linux-musl"/*.[ao] "$to"
    cp "$gcc"/crtbegin*.o "$gcc"/crtend*.o "$to"
    "$compiler" -O2 -fPIC -c "$here/unwinder_on_musl.c" -o "$to/unwinder_on_musl.o"
    printf '%s\n' "create $to/libunwind.a" "addlib $gcc/libgcc_eh.a" "addlib $gcc/libgcc.a" \
        "addmod $to/unwinder_on_musl.o" save end | ar -M
}
self_contained x86_64 "$(dirname "$(gcc -print-libgcc-file-name)")" gcc
self_contained aarch64 "$(echo "$folder/usr/lib/gcc-cross/$arm64"/[0-9]*)" $arm64-gcc

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

# The standard library for musl, built once, and placed where rustc looks for it.
library=$folder/library
mkdir -p "$library/src"
printf '[package]\nname = "nothing"\n[workspace]\n' > "$library/Cargo.toml"
touch "$library/src/lib.rs"
for machine in x86_64 aarch64; do
    target=$machine-unknown-linux-musl
    RUSTC_BOOTSTRAP=1 cargo build --release --manifest-path "$library/Cargo.toml" --target-dir "$library/target" \
        -Zbuild-std=std,panic_unwind,panic_abort,test --target $target
    cp "$library/target/$target/release/deps"/*.rlib "$rustlib/$target/lib"
done
rm -rf "$library"
touch "$folder/complete"
