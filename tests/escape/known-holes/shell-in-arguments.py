# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: command substitution, line ends and options in arguments, environment and input
# matters: vndee/llm-sandbox#147: paths were put into a shell command without quoting
# source: S5
# arg: $(touch /tmp/injected)
# arg: ; touch /tmp/injected #
# arg: `touch /tmp/injected`
# arg: --help
# arg: -c
# env: INJECTED=$(touch /tmp/injected)
# stdin: $(touch /tmp/injected)
# expect: own only
import os
import sys

from attempt import refused, through

if sys.argv[1] != "$(touch /tmp/injected)" or len(sys.argv) != 6:
    through(f"the arguments were changed: {sys.argv[1:]}")
if os.environ["INJECTED"] != "$(touch /tmp/injected)" or sys.stdin.read() != sys.argv[1]:
    through("environment or input were changed")
if os.path.exists("/tmp/injected"):
    through("a shell ran")
refused("own only")
