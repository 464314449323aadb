# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: other settings that prctl has: timer slack, endianness, FP mode, huge pages off, time
#   stamps
# matters: none is needed, and each is a door
# expect: ENOSYS
from attempt import each, prctl

OPTIONS = (6, 10, 12, 14, 20, 25, 26, 29, 31, 41, 45, 50, 51, 63, 69, 71, 72, 74, 77, 78)
each({f"prctl {option}": lambda option=option: prctl(option, 1) for option in OPTIONS})
