# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: looks for variables beyond those that are promised
# matters: agents are configured by the environment, tokens included
# expect: own only
import os

from attempt import refused, through

ALLOWED = {"PATH", "HOME", "TMPDIR", "LANG", "USER", "LOGNAME", "PYTHONDONTWRITEBYTECODE",
           "PYTHONUNBUFFERED", "MPLCONFIGDIR", "MPLBACKEND", "OMP_NUM_THREADS",
           "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "SANDBOXRUN_MEMORY_BYTES",
           "SANDBOXRUN_CPU_MILLI"}
found = {name for name in os.environ if not name.startswith("CANARY_")}
if strange := found - ALLOWED:
    through(f"{sorted(strange)}")
refused("own only")
