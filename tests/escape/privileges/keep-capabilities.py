# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: the ambient set, kept capabilities and the secure bits
# matters: the three ways in which capabilities survive
# expect: ENOSYS
from attempt import each, prctl

tries = {f"ambient capability {cap}": lambda cap=cap: prctl(47, 2, cap) for cap in (0, 7, 12, 21)}
tries["PR_SET_KEEPCAPS"] = lambda: prctl(8, 1)
tries["PR_SET_SECUREBITS"] = lambda: prctl(28, 0)
each(tries)
