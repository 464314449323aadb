# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: crashes where a handler would look for its helper in the crashed program's root
# matters: crash handlers run as root on the host, and entered the namespaces of the crashed
#   program (CVE-2015-1318)
# expect: bounded
import os
import signal

from attempt import refused, through

os.makedirs("/tmp/usr/share/apport", exist_ok=True)
child = os.fork()
if child == 0:
    os.chdir("/tmp")
    os.kill(os.getpid(), signal.SIGSEGV)
    os._exit(0)
status = os.waitpid(child, 0)[1]
if os.WCOREDUMP(status):
    through("a handler was started")
refused("bounded")
