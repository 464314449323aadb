# SPDX-License-Identifier: Apache-2.0
# family: core-dumps
# tries: reads where core dumps go, and sends the handler's socket something
# matters: a handler that listens believes its senders
# expect: ENOENT
import os

from attempt import each

each({
    "the pattern": lambda: os.open("/proc/sys/kernel/core_pattern", os.O_RDONLY),
    "the pipe limit": lambda: os.open("/proc/sys/kernel/core_pipe_limit", os.O_RDONLY),
    "systemd-coredump": lambda: os.open("/run/systemd/coredump", os.O_PATH),
    "apport": lambda: os.open("/run/apport.socket", os.O_PATH),
})
