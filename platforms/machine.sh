#!/usr/bin/env bash
# Runs a program of arm64 on an emulated computer with Debian's kernel: machine.sh FOLDER PROGRAM
# [ARGUMENT...]. FOLDER is what toolchain.sh has filled. The computer has two cores, 2 GiB of memory,
# no disk and no network but its own. Its system is busybox, with those programs of GNU's that tests need.
# cargo uses this script as a runner. The variable MACHINE_FILES names further files that the computer has,
# at the same paths.
set -euo pipefail
folder=$1 program=$(realpath "$2")
shift 2

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
# For users other than root, too.
chmod 755 "$root"
mkdir -p "$root"/{bin,dev,etc,gnu,lib,proc,sys,tmp} "$root$(dirname "$program")" "$root$PWD"
cp "$folder/machine/bin/busybox" "$root/busybox"
cp "$folder/machine/bin/cat" "$folder/machine/usr/bin/env" "$root/gnu"
cp "$folder/machine/bin/dash" "$root/gnu/sh"
cp "$program" "$root$program"
for file in ${MACHINE_FILES:-}; do
    mkdir -p "$root$(dirname "$file")"
    cp "$file" "$root$file"
done
cp "$folder/usr/aarch64-linux-gnu/lib"/{ld-linux-aarch64.so.1,libc.so.6,libm.so.6,libgcc_s.so.1} "$root/lib"
echo root:x:0:0::/:/bin/sh > "$root/etc/passwd"
echo 127.0.0.1 localhost > "$root/etc/hosts"

# What the caller has set for gmp and for Rust, too.
{
    echo '#!/busybox sh'
    echo '/busybox --install -s /bin; ln -sf /gnu/* /bin'
    echo 'mount -t proc none /proc; mount -t sysfs none /sys; mount -t devtmpfs none /dev'
    echo 'mkdir /dev/shm; mount -t tmpfs none /dev/shm; ln -s /proc/self/fd /dev/fd'
    echo 'ln -s /proc/self/fd/1 /dev/stdout; ln -s /proc/self/fd/2 /dev/stderr'
    echo 'mount -t cgroup2 none /sys/fs/cgroup; ip link set lo up'
    export -p | grep -E '^declare -x (GMP|RUST)_' | sed 's/declare -x/export/' || true
    printf 'cd %q; %q' "$PWD" "$program"
    printf ' %q' "$@"
    printf '; echo "ended with $?"; poweroff -f\n'
} > "$root/init"
chmod +x "$root/init"

image=$(mktemp)
output=$(mktemp)
trap 'rm -rf "$root" "$image" "$output"' EXIT
(cd "$root" && find . | cpio -o -H newc --quiet > "$image")
kernel=$(echo "$folder"/boot/vmlinuz-*-arm64)
qemu-system-aarch64 -machine virt -cpu neoverse-n1 -smp 2 -m 2048 -nic none -nographic -no-reboot \
    -kernel "$kernel" -initrd "$image" -append "console=ttyAMA0 quiet rdinit=/init" < /dev/null | tee "$output"
grep -q '^ended with 0' "$output"
