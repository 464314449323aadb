# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: forks, and looks whether there are two
# matters: dify-sandbox answers 0 to the only process there is: the child's code runs in the
#   parent
# expect: own only
import os

from attempt import refused, through

before = os.getpid()
child = os.fork()
if child == 0:
    os._exit(0 if os.getpid() != before and os.getppid() == before else 1)
if os.getpid() != before or os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
    through("one process with two roles")
refused("own only")
