#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Second stage of the virtual machine's start, as process 1: mounts what a host with cgroup v2 and
# nothing else has, runs the tests of its plan, and ends the machine. The report
# goes to the second serial line, everything else to the console.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
export PYTHONDONTWRITEBYTECODE=1
export SANDBOXRUN_EMULATED=1

mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /dev/pts /dev/shm
ln -s /proc/self/fd /dev/fd
for stream in 0:stdin 1:stdout 2:stderr; do
    ln -s "/proc/self/fd/${stream%:*}" "/dev/${stream#*:}"
done
mount -t devpts devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tracefs tracefs /sys/kernel/tracing
mount -o remount,rw /
ip link set lo up
echo sandboxrun-vm >/proc/sys/kernel/hostname

# The libraries that the programs were linked with, unless the root file system has them.
(cd /src/libraries && find . -type f) | while read -r library; do
    library=${library#.}
    if [ ! -e "$library" ]; then
        mkdir -p "$(dirname "$library")"
        ln -s "/src/libraries$library" "$library"
    fi
done

stty -F /dev/ttyS1 raw -echo
cd /src || exit 1
# shellcheck disable=SC2154 # From the kernel, which hands on what it does not know.
python3 tests/vm/guest/report.py build/vm-plans.json "$sandboxrun_plan" 3>/dev/ttyS1
echo "vm: report.py ended with status $?"
# The machine is started so that a reboot ends it.
echo b >/proc/sysrq-trigger
