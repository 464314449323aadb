# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: makes itself dumpable, and undumpable so that its files in /proc belong to root
# matters: the bit decides who may trace it and who owns its files
# expect: ENOSYS
from attempt import each, prctl

each({f"PR_SET_DUMPABLE {value}": lambda value=value: prctl(4, value) for value in (0, 1, 2)})
