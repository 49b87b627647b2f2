# Makes cargo use what toolchain.sh has unpacked into the given folder. To be sourced.
export PATH=$1/bin:$1/usr/bin:$PATH
export LD_LIBRARY_PATH=$1/usr/lib/x86_64-linux-gnu:$1/lib/x86_64-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=aarch64-linux-gnu-gcc
machine="$(realpath "$(dirname "${BASH_SOURCE[0]}")")/machine.sh $1"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$machine
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER=$machine
export CC_x86_64_unknown_linux_musl=x86_64-linux-musl-gcc CC_aarch64_unknown_linux_musl=aarch64-linux-musl-gcc
