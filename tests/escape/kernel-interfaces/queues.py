# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: System V and POSIX queues, semaphores and shared memory
# matters: old code, and objects that outlive their maker
# expect: ENOSYS
from attempt import each, syscall

each({
    "a message queue": lambda: syscall("msgget", 0, 0o1600),
    "a semaphore": lambda: syscall("semget", 0, 1, 0o1600),
    "shared memory": lambda: syscall("shmget", 0, 4096, 0o1600),
    "a POSIX queue": lambda: syscall("mq_open", "x", 0o102, 0o600, None),
})
