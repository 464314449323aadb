# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: unshare in another program that it starts
# matters: filter and no_new_privs must survive execve
# expect: EPERM
import errno
import subprocess
import sys

from attempt import CLONE_NEWUSER, number, refused, through

CODE = ("import ctypes; c = ctypes.CDLL(None, use_errno=True); "
        f"print(c.syscall({number('unshare')}, {CLONE_NEWUSER}), ctypes.get_errno())")
result, code = subprocess.run([sys.executable, "-c", CODE], capture_output=True,
                              check=True).stdout.split()
if result == b"0":
    through("the filter was lost at execve")
refused(errno.errorcode[int(code)])
