# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: finds out by error codes whether a path exists outside
# matters: ioi/isolate before 2.5: options told whether a file existed that the user couldn't see
# source: S10
# expect: ENOENT
import os

from attempt import MS_BIND, canary, name_of, refused, syscall, through

# One that exists outside, one that doesn't: nothing may tell them apart.
answers = []
for path in (canary("FILE"), canary("FILE") + "-that-is-not-there"):
    met = []
    for function in (os.stat, os.listdir, os.readlink, os.unlink, os.chdir, os.rmdir,
                     lambda path: os.open(path, os.O_PATH), lambda path: os.rename(path, path),
                     lambda path: os.link(path, "/tmp/x"), lambda path: os.execv(path, ["x"]),
                     lambda path: os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY),
                     lambda path: syscall("mount", path, path, None, MS_BIND, None) and None):
        try:
            function(path)
            met.append("")
        except OSError as error:
            met.append(name_of(error))
    answers.append(met)
if answers[0] != answers[1]:
    through(f"{answers}")
refused("ENOENT")
