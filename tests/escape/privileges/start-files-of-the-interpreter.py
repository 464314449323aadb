# SPDX-License-Identifier: Apache-2.0
# family: privileges
# tries: plants code that every later interpreter would run
# matters: sitecustomize, usercustomize, a .pth file or a changed module reach every other run
# expect: EROFS, EACCES
import os
import sys
import sysconfig

from attempt import each

places = {sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), *sys.path[1:]}
tries = {}
for place in sorted(place for place in places if place and not place.startswith("/home")):
    for name in ("sitecustomize.py", "usercustomize.py", "x.pth", "os.py",
                 "__pycache__/os.cpython-312.pyc"):
        path = os.path.join(place, name)
        if os.path.isdir(os.path.dirname(path)):
            tries[path] = lambda path=path: os.open(path, os.O_WRONLY | os.O_CREAT)
tries["runner"] = lambda: os.open("/usr/lib/sandboxrun/runner.pyc", os.O_WRONLY)
each(tries)
