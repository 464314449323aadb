# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: protection keys, a shadow stack, remapped file pages
# matters: rare memory calls, none of which the runtime needs
# expect: ENOSYS
from attempt import each, syscall

each({
    "pkey_alloc": lambda: syscall("pkey_alloc", 0, 0),
    "map_shadow_stack": lambda: syscall("map_shadow_stack", 0, 4096, 0),
    "remap_file_pages": lambda: syscall("remap_file_pages", 0, 4096, 0, 0, 0),
    "lsm_set_self_attr": lambda: syscall("lsm_set_self_attr", 100, bytes(32), 32, 0),
})
