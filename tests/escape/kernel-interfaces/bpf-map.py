# SPDX-License-Identifier: Apache-2.0
# family: kernel-interfaces
# tries: makes a BPF map
# matters: the verifier and its maps are a standing source of escapes
# expect: EPERM
import struct

from attempt import syscall, trying

with trying("a map"):
    syscall("bpf", 0, struct.pack("IIII", 2, 4, 4, 1) + bytes(112), 128)
