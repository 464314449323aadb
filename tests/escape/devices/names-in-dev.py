# SPDX-License-Identifier: Apache-2.0
# family: devices
# tries: lists /dev
# matters: a device that nobody thought of
# expect: own only
import os

from attempt import refused, through

ALLOWED = {"null", "zero", "full", "random", "urandom", "shm", "fd", "stdin", "stdout", "stderr"}
if strange := set(os.listdir("/dev")) - ALLOWED:
    through(f"{sorted(strange)}")
refused("own only")
