# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: adds keys of the types user, keyring, logon, big_key and asymmetric
# matters: key rings belong to no namespace, count against the node, and hold others' keys
# expect: EPERM
from attempt import each, syscall

each({f"a key of type {kind}": lambda kind=kind: syscall("add_key", kind, "x", b"y", 1, -3)
      for kind in ("user", "keyring", "logon", "big_key", "asymmetric")})
