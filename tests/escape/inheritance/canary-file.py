# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: reads a file of the host that everybody may read, by its path there
# matters: the plainest attempt of all
# expect: ENOENT
from attempt import canary, reading

reading(canary("FILE"), canary("DIRECTORY"), "/proc/self/root" + canary("FILE"))
