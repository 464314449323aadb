# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: reads and sets the memory policy
# matters: it could fill one node of the machine's memory on purpose
# expect: ENOSYS
from attempt import each, syscall

each({
    "get_mempolicy": lambda: syscall("get_mempolicy", bytes(8), None, 0, 0, 0),
    "mbind": lambda: syscall("mbind", 0, 4096, 2, bytes(8), 8, 0),
})
