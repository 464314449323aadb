# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: unmounts /proc, /tmp and /dev/shm, lazily and by force
# matters: what lies below a mount is hidden for a reason
# expect: EPERM
from attempt import MNT_DETACH, each, syscall

each({f"unmounted {path}": lambda path=path, flags=flags: syscall("umount2", path, flags)
      for path in ("/proc", "/tmp", "/dev/shm", "/") for flags in (0, 1, MNT_DETACH)})
