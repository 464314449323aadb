# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: looks for sudo, su, mount, newuidmap, pkexec, fusermount and a setuid helper of any name
# matters: programs that were made to give privilege
# expect: nothing found
import os

from attempt import refused, through

NAMES = {"sudo", "su", "mount", "umount", "newuidmap", "newgidmap", "pkexec", "fusermount",
         "fusermount3", "passwd", "chsh", "chfn", "newgrp", "gpasswd", "dbus-daemon-launch-helper",
         "ssh-keysign", "ping", "unshare", "nsenter", "setpriv", "docker", "runc", "kubectl"}
for top, directories, names in os.walk("/"):
    if top == "/":
        directories.remove("proc")
    for name in NAMES.intersection(names):
        if os.access(os.path.join(top, name), os.X_OK):
            through(os.path.join(top, name))
refused("nothing found")
