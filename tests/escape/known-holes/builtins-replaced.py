# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: replaces functions that a sandbox in the same process would rely on, then does what is
#   forbidden
# matters: CVE-2025-3466 (langgenius/dify#23106): global functions were overridden before the
#   restrictions looked at them
# source: S2
# expect: EPERM, ENOENT
import builtins
import ctypes
import os
import sys

from attempt import CLONE_NEWUSER, canary, each, syscall

builtins.__import__ = builtins.open = lambda *_, **__: None
sys.addaudithook(lambda *_: None)
sys.settrace(lambda *_: None)
for module in ("os", "posix", "sys", "subprocess"):
    sys.modules.pop(module, None)
each({
    "a user namespace": lambda: syscall("unshare", CLONE_NEWUSER),
    "a file outside": lambda: os.open(canary("FILE"), os.O_RDONLY),
    "a foreign function": lambda: syscall("setns", ctypes.c_int(0), 0),
})
