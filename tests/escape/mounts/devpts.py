# SPDX-License-Identifier: Apache-2.0
# family: mounts
# tries: an instance of devpts and of devtmpfs
# matters: terminals, and every device of the node by name
# expect: EPERM
from attempt import each, syscall

each({f"mounted {name}": lambda name=name: syscall("mount", name, "/tmp", name, 0, None)
      for name in ("devpts", "devtmpfs", "mqueue")})
