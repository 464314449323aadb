# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: the classic way out of a chroot: a second one below, and then up
# matters: it works wherever a chroot is all there is, and the right to chroot is there
# expect: EPERM
import os

from attempt import canary, refused, trying

os.mkdir("/tmp/below")
with trying("out of the root"):
    here = os.open("/", os.O_RDONLY)
    os.chroot("/tmp/below")
    os.fchdir(here)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    if not os.path.exists(canary("FILE")):
        refused("no effect")
