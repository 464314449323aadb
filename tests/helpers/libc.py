# SPDX-License-Identifier: Apache-2.0
"""System calls that Python doesn't have."""

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)


def checked(result, call):
    """The result of a call of libc; its error as OSError."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), call)
    return result


def buffers(fd):
    """What can be read now of a descriptor that doesn't block, such as one of events."""
    while True:
        try:
            yield os.read(fd, 65536)
        except BlockingIOError:
            return
