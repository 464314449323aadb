# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: PR_SET_MM: where the kernel believes its code, heap and arguments to be
# matters: with it a process shows another name and another program than it runs
# expect: ENOSYS
from attempt import each, prctl

each({f"PR_SET_MM {field}": lambda field=field: prctl(35, field, 0x10000)
      for field in range(1, 16)})
