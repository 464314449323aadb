#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prepares what the virtual machine boots from, in build/vm/:
#
#   vmlinuz, initramfs   Debian's cloud kernel and the few modules it needs for its disks
#   base.img             the root file system: files of packages that are installed here, so that
#                        the programs built on this machine find the libraries they were built with
#
# The kernel and busybox are downloaded and unpacked, never installed; qemu is installed if it is
# missing. Does nothing if all of that is there and up to date. Exit status: 0 if the files are
# there, 3 with a reason if this machine can't have them, 1 for anything else.
set -euo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly here
readonly output=${here%/tests/vm}/build/vm

readonly PACKAGES=(base-files bash coreutils dash findutils grep iproute2 mount procps python3
    sed util-linux)
# Documentation and translations that nothing in the machine reads.
readonly LEFT_OUT='^/usr/share/(doc|man|locale|info|lintian|bash-completion|bug|gcc|gdb|icons|perl5)(/|$)'
# By name as modprobe knows them; what is built into the kernel needs no file.
readonly MODULES=(virtio_pci virtio_blk ext4)

step() { printf 'vm: %s\n' "$*" >&2; }
fail() { printf 'vm: error: %s\n' "$*" >&2; exit 1; }
unavailable() { printf '%s\n' "$*" >&2; exit 3; }

# apt's own sandbox user must be able to write where packages are downloaded to.
scratch=
make_scratch() {
    scratch=$(mktemp -d)
    trap 'rm -rf -- "$scratch"' EXIT
    chmod 755 "$scratch"
    mkdir -m 777 "$scratch/packages"
}

check_machine() {
    [[ $(uname -m) == x86_64 ]] || unavailable "the virtual machine is made for x86-64 only"
    command -v apt-get >/dev/null ||
        unavailable "the virtual machine is made from Debian packages, and there is no apt-get here"
    command -v mke2fs >/dev/null || unavailable "mke2fs is missing: install e2fsprogs"
}

# Stale lists name packages that are gone: they are renewed, and only when that is seen.
or_update() {
    "$@" && return
    apt-get update -qq >/dev/null 2>&1 || true
    "$@"
}

install_with_apt() {
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" \
        >"$scratch/apt.log" 2>&1
}

install_packages() {
    local package missing=()
    for package in qemu-system-x86 kmod "${PACKAGES[@]}"; do
        [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
            missing+=("$package")
    done
    command -v qemu-system-x86_64 >/dev/null && missing=("${missing[@]/qemu-system-x86/}")
    # shellcheck disable=SC2206 # Drops the emptied entry.
    missing=(${missing[@]})
    ((${#missing[@]})) || return 0
    [[ $(id -u) == 0 ]] || unavailable "install ${missing[*]}: that needs root"
    step "installing ${missing[*]}"
    or_update install_with_apt "${missing[@]}" ||
        unavailable "could not install ${missing[*]}: $(tail -n 1 "$scratch/apt.log")"
}

# The installed packages that PACKAGES need, themselves included.
closure() {
    apt-cache depends --installed --recurse --no-recommends --no-suggests --no-conflicts \
        --no-breaks --no-replaces --no-enhances "${PACKAGES[@]}" | grep '^[a-z0-9]' | sort -u |
        while read -r package; do
            [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) != installed ]] ||
                echo "$package"
        done
}

# All that the result depends on; the kernel's version is left to the day it was made.
fingerprint() {
    {
        cat "${BASH_SOURCE[0]}" "$here/initramfs-init"
        # shellcheck disable=SC2046 # One word per package.
        dpkg-query -W -f='${Package} ${Version}\n' $(closure)
    } | sha256sum
}

download() {
    (cd "$scratch/packages" && apt-get download -qq "$1") >"$scratch/apt.log" 2>&1 &&
        mkdir -p "$scratch/$2" &&
        dpkg-deb -x "$scratch/packages/$1"_*.deb "$scratch/$2"
}

# The package's name has the kernel's version in it.
download_kernel() {
    local package
    package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-.*\)$/\1/p' | head -n 1)
    if [[ -z $package ]]; then
        echo "the package lists have no linux-image-cloud-amd64" >"$scratch/apt.log"
        return 1
    fi
    step "downloading $package and busybox-static"
    download "$package" kernel && download busybox-static busybox
}

# Copies a module and what it depends on, and lists them in the order of loading.
add_modules() {
    local version=$1 root=$2 module file
    depmod_for "$version"
    for module in "${MODULES[@]}"; do
        modprobe -d "$scratch/kernel" -S "$version" --show-depends --ignore-install "$module" |
            sed -n 's/^insmod \([^ ]*\).*$/\1/p'
    done | awk '!seen[$0]++' | while read -r file; do
        module=$(basename "$file")
        case $file in
            *.xz) xz -dc "$file" >"$root/modules/${module%.xz}" ;;
            *.zst) zstd -qdc "$file" >"$root/modules/${module%.zst}" ;;
            *) cp "$file" "$root/modules/" ;;
        esac
        echo "${module%.ko*}.ko" >>"$root/modules/order"
    done
}

depmod_for() {
    local merged=$scratch/kernel/lib
    # Newer packages have their modules below /usr alone.
    [[ -d $merged/modules ]] || ln -sfn usr/lib "$merged"
    depmod -b "$scratch/kernel" "$1"
}

make_initramfs() {
    local root=$scratch/initramfs version
    version=$(basename "$scratch"/kernel/boot/vmlinuz-* | sed 's/^vmlinuz-//')
    mkdir -p "$root"/{bin,dev,proc,sys,root,modules}
    : >"$root/modules/order"
    add_modules "$version" "$root"
    cp "$(find "$scratch/busybox" -name busybox -type f -perm -u+x | head -n 1)" "$root/bin/busybox"
    install -m 755 "$here/initramfs-init" "$root/init"
    (cd "$root" && find . | "$scratch/initramfs/bin/busybox" cpio -o -H newc 2>/dev/null) |
        gzip -1 >"$output/initramfs.new"
    cp "$scratch/kernel/boot/vmlinuz-$version" "$output/vmlinuz.new"
}

# File systems without a journal: nothing outlives the machine.
make_base() {
    local root=$scratch/base kib
    # /bin and the like may be links into /usr, and come first.
    mkdir -p "$root"/usr/{bin,sbin,lib,lib64}
    # shellcheck disable=SC2046 # One word per package.
    dpkg-query -L $(closure) | grep -vE "$LEFT_OUT" | grep '^/.' | sort -u |
        while read -r path; do
            [[ ! -e $path && ! -L $path ]] || printf '%s\n' ".$path"
        done >"$scratch/files"
    tar -C / --no-recursion -T "$scratch/files" -cf - | tar -C "$root" -xf -
    mkdir -p "$root"/{dev,proc,sys,run,tmp,root,etc,src}
    [[ -e $root/bin/sh ]] || ln -s dash "$root/bin/sh"
    printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' \
        >"$root/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
    kib=$(du -sk --apparent-size "$root" | cut -f 1)
    rm -f "$output/base.img.new"
    mke2fs -q -t ext4 -O ^has_journal -m 0 -E root_owner=0:0 -d "$root" "$output/base.img.new" \
        "$((kib + kib / 3 + 32768))k" >/dev/null
}

main() {
    local wanted
    check_machine
    make_scratch
    install_packages
    mkdir -p "$output"
    exec 9>"$output/lock"
    flock 9
    wanted=$(fingerprint)
    if [[ -f $output/stamp && $(<"$output/stamp") == "$wanted" ]]; then
        return
    fi
    rm -f "$output/stamp"
    or_update download_kernel ||
        unavailable "could not download the kernel: $(tail -n 1 "$scratch/apt.log")"
    step "making the initramfs and the root file system"
    make_initramfs
    make_base
    for file in vmlinuz initramfs base.img; do
        mv -f "$output/$file.new" "$output/$file"
    done
    printf '%s\n' "$wanted" >"$output/stamp"
}

main
