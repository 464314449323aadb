# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: reads the environment of whoever started it, by every path
# matters: judge0/judge0#564: the worker's environment, with its passwords, could be read
# source: S3
# expect: ENOENT
import os

from attempt import REAPER, canary, reading

reading(*(f"/proc/{pid}/environ" for pid in (REAPER, os.getppid(), *canary("PIDS").split())))
