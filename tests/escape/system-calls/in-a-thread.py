# SPDX-License-Identifier: Apache-2.0
# family: system-calls
# tries: unshare in a new thread
# matters: a filter that was set for one thread alone would not hold here
# expect: EPERM
import threading

from attempt import CLONE_NEWUSER, name_of, refused, syscall, through

met = []


def work():
    try:
        syscall("unshare", CLONE_NEWUSER)
        met.append("")
    except OSError as error:
        met.append(name_of(error))


thread = threading.Thread(target=work)
thread.start()
thread.join()
if not met[0]:
    through("a thread has its own user namespace")
refused(met[0])
