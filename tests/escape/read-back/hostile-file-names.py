# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: leaves files whose names are options, control bytes, line ends and shell commands
# matters: whoever cleans up by a shell runs them
# expect: Completed
import os

from attempt import canary

for name in ("-rf", "--", "$(touch " + canary("DIRECTORY").replace("/", "\\057") + ")", "a\nb",
             "\x1b[2J", "`reboot`", ";reboot;", "|sh", "*", " ", "\\", "\xff", "x" * 255):
    with open(os.path.join(b"/tmp", name.encode("latin-1")), "wb"):
        pass
