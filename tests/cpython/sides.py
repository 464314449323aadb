# SPDX-License-Identifier: Apache-2.0
"""The two places where the tests run: a sandbox, and a plain user of the same root file system."""

import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from helpers import local  # noqa: E402

RUNTIME_NAME = "python3.12-tests"
RUNTIME = pathlib.Path(local.RUNTIMES) / RUNTIME_NAME
PROGRAM = HERE / "program.py"
INSIDE_TIMEOUT_SECONDS = 60
INSIDE_MEMORY = "512Mi"
OUTSIDE_TIMEOUT_SECONDS = 1200
UID = 65532

# How a run ended, by the exit code of `sandboxrun run`.
ENDS = {0: "Completed", 124: "DeadlineExceeded", 137: "OOMKilled", 159: "ForbiddenSyscall"}

# A plain user's machine: own mounts, so that nothing of this host is touched, a whole /proc,
# terminals, a network whose only interface is down. Nothing is filtered, and nothing is limited
# but the descriptors, whose number some tests try to reach and which every host sets otherwise.
ENTER = r"""
set -e
root=$1
[ "$LOOPBACK" = down ] || ip link set lo up
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
for node in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do
    IFS=: read -r name major minor <<NODE
$node
NODE
    mknod -m 0666 "$root/dev/$name" c "$major" "$minor"
done
mkdir "$root/dev/pts"
mkdir -m 1777 "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for stream in 0:stdin 1:stdout 2:stderr; do
    ln -s "/proc/self/fd/${stream%:*}" "$root/dev/${stream#*:}"
done
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t tmpfs -o mode=0700,uid=65532,gid=65532 tmpfs "$root/home/sandbox"
cat "$2" >"$root/home/sandbox/main.py"
ulimit -S -n 1024
ulimit -H -n 4096
# Not by exec: a change of the user would undo the parent-death signal of process 1.
$TRACE setpriv --no-new-privs chroot --userspec=65532:65532 --groups= "$root" /bin/sh -c \
    'cd /home/sandbox && PATH=/usr/local/bin:/usr/bin:/bin exec /usr/bin/python3 -I -u -B main.py' ||
    exit $?
"""

# The environment of a sandbox, but for what is said there about its limits.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/sandbox", "TMPDIR": "/tmp",
               "LANG": "C.UTF-8", "USER": "sandbox", "LOGNAME": "sandbox"}


class ItemOutcome:
    """What became of one item."""

    def __init__(self, file):
        self.file = file
        self.tests = {}  # id -> (result, seconds, why)
        self.planned = []  # ids of all
        self.running = None  # the method that had begun and not ended
        self.fixture = None  # the class that had begun to be set up and none of whose methods had
        self.status = None  # of its process, when that has ended
        self.seconds = 0
        self.tail = ""  # of its output, if the status isn't 0

    def add(self, name, result, seconds, why):
        # A name may occur twice, and a test may fail in several parts: the worst counts.
        if name not in self.tests or self.tests[name][0] in ("passed", "expected"):
            self.tests[name] = (result, seconds, why)
        if name == self.running:
            self.running = None

    def take(self, event):
        if "planned" in event:
            self.planned = event["planned"]
        elif "class" in event:
            self.fixture = event["class"]
        elif "begin" in event:
            self.running, self.fixture = event["begin"], None
        elif "test" in event:
            self.add(event["test"], event["result"], event["seconds"], event["why"])
        elif "status" in event:
            self.status, self.seconds = event["status"], event["seconds"]
            self.tail = event["tail"].strip()


def parse(text):
    """The outcomes of the items that began, in their order."""
    outcomes = []
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # cut off by a kill
            continue
        if "file" in event:
            outcomes.append(ItemOutcome(event["file"]))
        else:
            outcomes[-1].take(event)
    return outcomes


def run(argv, request, env, timeout):
    """(exit status or None when it took too long, stdout, stderr)."""
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, env=env, text=True, errors="replace")
    try:
        stdout, stderr = child.communicate(request, timeout=timeout)
        return child.returncode, stdout, stderr
    except subprocess.TimeoutExpired:
        child.kill()
        stdout, stderr = child.communicate()
        return None, stdout, stderr


def inside(items, resources):
    """Runs items in one sandbox: the outcomes of those that began, and how the whole ended."""
    request = json.dumps({"resources": resources, "items": items})
    document = local.document(PROGRAM.read_text(encoding="utf-8"), name="cpython",
                              runtime=RUNTIME_NAME, profile="Snippet", stdin=request,
                              timeoutSeconds=INSIDE_TIMEOUT_SECONDS,
                              resources={"limits": {"memory": INSIDE_MEMORY}})
    argv = [local.program("sandboxrun"), "run", "--raw", "--runtimes-dir", local.RUNTIMES, "-"]
    status, stdout, stderr = run(argv, json.dumps(document), None, 2 * INSIDE_TIMEOUT_SECONDS)
    if status not in ENDS:
        raise RuntimeError(f"the sandbox ended with {status}: {stderr}")
    return parse(stdout), ENDS[status]


def enter(runtime, program, stdin, timeout, trace=""):
    """Runs a program as a plain user of a runtime: (exit status or None, stdout, stderr).

    `trace` is a command to run it under. Then the loopback interface is up, so that there is more
    to be seen.
    """
    argv = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--net", "--ipc",
            "--uts", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", str(runtime), str(program)]
    env = ENVIRONMENT | {"PATH": os.environ["PATH"], "TRACE": trace,
                         "LOOPBACK": "up" if trace else "down"}
    return run(argv, stdin, env, timeout)


def outside(items, resources, trace=""):
    """Runs items as a plain user, and answers as inside()."""
    request = json.dumps({"resources": resources, "items": items})
    status, stdout, stderr = enter(RUNTIME, PROGRAM, request, OUTSIDE_TIMEOUT_SECONDS, trace)
    if status not in (0, None):
        raise RuntimeError(f"outside the sandbox it ended with {status}: {stderr}")
    return parse(stdout), "Completed" if status == 0 else "DeadlineExceeded"
