# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: opens /dev/mem, /dev/kmem, /dev/port, /dev/kmsg, /dev/nvram
# matters: the machine's memory and the kernel's log
# expect: ENOENT
from attempt import reading

reading("/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/nvram", "/dev/cpu/0/msr",
        "/dev/cpu/0/cpuid", "/dev/mcelog", "/dev/sev", "/dev/sgx_enclave")
