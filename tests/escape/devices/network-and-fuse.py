# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: opens tun, ppp, fuse, cuse, userfaultfd, uinput, uhid, autofs, ashmem and binder
# matters: drivers whose other half is the program
# expect: ENOENT
from attempt import reading

reading("/dev/net/tun", "/dev/ppp", "/dev/fuse", "/dev/cuse", "/dev/userfaultfd", "/dev/uinput",
        "/dev/uhid", "/dev/autofs", "/dev/ashmem", "/dev/binder", "/dev/binderfs/binder-control",
        "/dev/input/event0", "/dev/rfkill", "/dev/vhci", "/dev/snapshot", "/dev/watchdog")
