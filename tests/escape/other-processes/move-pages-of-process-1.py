# SPDX-License-Identifier: Apache-2.0
# family: other-processes
# tries: migrate_pages and move_pages of process 1
# matters: they act on another's memory, and move_pages has told whether a page is there
# expect: ENOSYS
from attempt import REAPER, each, syscall

each({
    "migrate_pages": lambda: syscall("migrate_pages", REAPER, 8, bytes(8), bytes(8)),
    "move_pages": lambda: syscall("move_pages", REAPER, 1, bytes(8), None, bytes(8), 0),
})
