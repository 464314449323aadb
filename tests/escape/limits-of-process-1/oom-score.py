# SPDX-License-Identifier: Apache-2.0
# family: limits-of-process-1
# tries: writes oom_score_adj and oom_adj of process 1
# matters: the memory killer would take it first, or never
# expect: ENOENT
import os

from attempt import each

each({name: lambda name=name: os.open(f"/proc/1/{name}", os.O_WRONLY)
      for name in ("oom_score_adj", "oom_adj", "oom_score")})
