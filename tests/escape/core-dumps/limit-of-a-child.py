# SPDX-License-Identifier: Apache-2.0
# family: core-dumps
# tries: starts a shell that raises its limit and crashes
# matters: another program must not have another limit
# expect: bounded
import os
import subprocess

from attempt import refused, through

os.chdir("/tmp")
done = subprocess.run(["/bin/sh", "-c", "ulimit -c unlimited; ulimit -c; kill -SEGV $$"],
                      capture_output=True, text=True)
if "unlimited" in done.stdout or [name for name in os.listdir(".") if name.startswith("core")]:
    through(done.stdout)
if done.returncode != -11:
    raise SystemExit(f"the shell ended with {done.returncode}")
refused("bounded")
