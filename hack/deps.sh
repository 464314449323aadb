#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the Debian packages that building (default), testing or linting needs.
# Packages that are there already cost nothing: apt is not called at all.
set -euo pipefail

usage() {
    cat <<'TXT'
usage: hack/deps.sh [--check] [build|test|lint|bench|all]...

  build   compiler, CMake, the libraries, and nft for the network of ToolCall (default)
  test    what the test layers need besides: clang, bubblewrap, Go
  lint    clang-format, clang-tidy, cppcheck, shellcheck
  bench   what others run programs in, to be measured beside: bubblewrap, crun, runc, runsc, podman;
          those that this release of Debian lacks are left out. No part of all
  --check only says what is missing; exit code 1 if anything is
TXT
}

build=(gcc cmake ninja-build pkg-config libc6-dev linux-libc-dev python3
    libcurl4-openssl-dev libcjson-dev libyaml-dev libseccomp-dev libevent-dev
    libgnutls28-dev libmicrohttpd-dev libmnl-dev libpython3-dev uthash-dev libcmocka-dev ca-certificates tzdata
    nftables)
tests=(clang libclang-rt-dev bubblewrap curl procps iproute2 conntrack util-linux binutils openssl qemu-system-x86 kmod e2fsprogs python3-h2)
# Any Go from 1.16 on will do: a newer toolchain comes as a module where it is needed.
command -v go >/dev/null || [ -x /usr/local/go/bin/go ] || tests+=(golang-go)
lint=(clang-format clang-tidy cppcheck shellcheck)
peers=(bubblewrap crun runc runsc podman)

check=0
wanted=()
for arg in "$@"; do
    case "$arg" in
    --check) check=1 ;;
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${build[@]}" "${tests[@]}") ;;
    lint) wanted+=("${lint[@]}") ;;
    bench) wanted+=("${peers[@]}") ;;
    all) wanted+=("${build[@]}" "${tests[@]}" "${lint[@]}") ;;
    -h | --help) usage; exit 0 ;;
    *) echo "deps.sh: unknown argument '$arg'" >&2; usage >&2; exit 2 ;;
    esac
done
[ "${#wanted[@]}" -gt 0 ] || wanted=("${build[@]}")

# The sanitizers' run-time library carries the compiler's version in its name.
clang_runtime() {
    local version
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p' | head -n 1)
    if [ -n "$version" ]; then
        echo "libclang-rt-$version-dev"
    fi
}

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

missing=()
for package in "${wanted[@]}"; do
    if [ "$package" = libclang-rt-dev ]; then
        is_installed clang && ls /usr/lib/llvm-*/lib/clang/*/lib/linux/libclang_rt.asan-*.a >/dev/null 2>&1 && continue
        missing+=(libclang-rt-dev)
        continue
    fi
    is_installed "$package" || missing+=("$package")
done

if [ "${#missing[@]}" -eq 0 ]; then
    exit 0
fi
if [ "$check" = 1 ]; then
    echo "missing packages: ${missing[*]}"
    exit 1
fi
if ! command -v apt-get >/dev/null; then
    echo "deps.sh: no apt-get here; install by hand: ${missing[*]}" >&2
    exit 1
fi
if [ "$(id -u)" != 0 ]; then
    echo "deps.sh: installing packages needs root: sudo ./hack/deps.sh (missing: ${missing[*]})" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# One broken source among several is no reason to stop: what matters is whether the packages come.
apt-get update -qq || echo "note: apt-get update failed; going on with the package lists at hand" >&2
for i in "${!missing[@]}"; do
    if [ "${missing[$i]}" = libclang-rt-dev ]; then
        missing[i]=$(clang_runtime)
        [ -n "${missing[$i]}" ] || unset 'missing[i]'
    elif [[ " ${peers[*]} " == *" ${missing[$i]} "* ]] && ! apt-cache show "${missing[$i]}" >/dev/null 2>&1; then
        echo "note: this release has no package ${missing[$i]}" >&2
        unset 'missing[i]'
    fi
done
[ "${#missing[@]}" -gt 0 ] || exit 0
apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
