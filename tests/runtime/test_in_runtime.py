# SPDX-License-Identifier: Apache-2.0
"""The made runtime from inside, as the sandbox's uid, and the standard library under the seccomp
policies of the profiles. No jail: a mount namespace, a chroot and the filter are all there is."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("SANDBOXRUN_BIN", ROOT / "build/release/bin"))
RUNTIMES = pathlib.Path(os.environ.get("SANDBOXRUN_RUNTIMES", ROOT / "build/runtimes"))
RUNTIME = RUNTIMES / "python3.12"
UID = 65532
TIMEOUT_SECONDS = 300

# Stands in for the jailer: mounts, uid, no network.
ENTER = r"""
set -e
root=$1 files=$2
shift 2
mount -t proc -o ro proc "$root/proc"
mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
for node in null:3 zero:5 full:7 random:8 urandom:9; do
    mknod -m 0666 "$root/dev/${node%:*}" c 1 "${node#*:}"
done
mkdir -m 1777 "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mkdir "$root/tmp/files"
mount --bind -o ro "$files" "$root/tmp/files"
mount -t tmpfs -o mode=0700,uid=65532,gid=65532 tmpfs "$root/home/sandbox"
exec chroot --userspec=65532:65532 "$root" /bin/sh -c 'cd /home/sandbox && exec "$@"' sh "$@"
"""

# Stands in for the jailer's last step, without a library that the runtime lacks.
LOAD = """
import ctypes, os, sys
with open(sys.argv[1], "rb") as file:
    bpf = file.read()
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int] + [ctypes.c_void_p] * 4
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2
assert libc.prctl(NO_NEW_PRIVS, 1, None, None, None) == 0
program = Program(len(bpf) // 8, bpf)
assert libc.prctl(SECCOMP, FILTER, ctypes.addressof(program), None, None) == 0
os.execv(sys.argv[2], sys.argv[2:])
"""

# Modules that need what a sandbox hasn't got, or that print when they are imported.
LEFT_OUT = """antigravity this tkinter _tkinter turtle turtledemo idlelib ensurepip nis msvcrt winreg
    winsound _winapi msilib _msi _scproxy _overlapped nt _osx_support _ios_support _wmi
    _android_support""".split()

IMPORTS = f"""
import importlib, sys, warnings
warnings.simplefilter("ignore")
# Optional parts of the standard library: a Python built without their libraries lacks them.
optional = {{"_dbm", "_gdbm"}}
for name in sorted(sys.stdlib_module_names - set({LEFT_OUT!r})):
    try:
        importlib.import_module(name)
    except ImportError as error:
        if name not in optional:
            print(name, repr(error))
"""

# What libraries do, each with the answer that a profile must give. One line per surprise.
BEHAVIOUR = """
import errno, mmap, multiprocessing, os, resource, select, shutil, signal, socket, sqlite3
import subprocess, sys, tempfile, threading, time

PROFILE = sys.argv[1]


def refused(expected, call, *args):
    try:
        result = call(*args)
    except OSError as error:
        if error.errno != expected:
            print(call, args, "gave", error)
    else:
        print(call, args, "was allowed:", result)


def square(n):
    return n * n


if __name__ == "__main__":
    # Processes, threads, files, memory.
    assert subprocess.run("echo $((6 * 7))", shell=True, capture_output=True).stdout == b"42\\n"
    assert subprocess.run(["ls", "/"], capture_output=True, start_new_session=True).returncode == 0
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(square, range(3)) == [0, 1, 4]
    thread = threading.Thread(target=time.sleep, args=(0.01,))
    thread.start()
    thread.join()
    with tempfile.TemporaryDirectory() as directory:
        source = os.path.join(directory, "a")
        with open(source, "wb") as file:
            file.write(b"x" * 100000)
        shutil.copy2(source, source + "2")
        shutil.copytree(directory, directory + "/../copy")
        shutil.rmtree(directory + "/../copy")
        os.replace(source, source + "3")
        os.utime(source + "2")
        os.chmod(source + "2", 0o600)
        os.mkfifo(source + "4")
        base = sqlite3.connect(source + "5")
        base.execute("create table t (x)")
        base.commit()
    mmap.mmap(-1, 4096).close()
    os.nice(1)
    os.sched_setaffinity(0, os.sched_getaffinity(0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    signal.setitimer(signal.ITIMER_REAL, 30)
    signal.alarm(0)
    select.epoll().close()
    a, b = socket.socketpair()
    a.send(b"x")
    assert b.recv(1) == b"x"

    # Refusals that a library meets with an answer it understands.
    refused(errno.EOPNOTSUPP, os.listxattr, "/")
    refused(errno.ENOSYS, os.memfd_create, "x")
    refused(errno.EPERM, os.chroot, "/")
    refused(errno.EPERM, os.setuid, 0)
    if hasattr(os, "unshare"):  # Python 3.12
        refused(errno.EPERM, os.unshare, os.CLONE_NEWUSER)
    refused(errno.EPERM, os.kill, os.getpid(), signal.SIGSYS)
    refused(errno.EPERM, os.setpriority, os.PRIO_PROCESS, 1, 5)
    refused(errno.EPERM, os.sched_setaffinity, 1, {0})
    refused(errno.EPERM, resource.prlimit, 1, resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        print("RLIMIT_CORE could be changed")
    except ValueError:  # Python's word for EPERM here
        pass
    refused(errno.EAFNOSUPPORT, socket.socket, socket.AF_NETLINK, socket.SOCK_RAW)
    refused(errno.EAFNOSUPPORT, socket.socket, socket.AF_PACKET, socket.SOCK_RAW)
    if PROFILE == "snippet":
        refused(errno.EAFNOSUPPORT, socket.socket, socket.AF_INET)
        refused(errno.EAFNOSUPPORT, socket.socket, socket.AF_INET6, socket.SOCK_DGRAM)
        start = time.monotonic()
        try:
            socket.getaddrinfo("example.com", 443)
            print("a name was looked up")
        except socket.gaierror:
            pass
        assert time.monotonic() - start < 1
    else:
        socket.socket(socket.AF_INET).close()
        socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close()
        refused(errno.EPERM, socket.socket, socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
"""


@unittest.skipIf(os.geteuid() != 0, "needs root to enter the runtime")
class InRuntimeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (RUNTIME / "usr/bin/python3").exists():
            raise AssertionError(f"no runtime at {RUNTIME}: run hack/make-runtime.sh")
        cls.files = pathlib.Path(tempfile.mkdtemp(prefix="sandboxrun-in-runtime-"))
        cls.addClassCleanup(shutil.rmtree, cls.files)
        cls.files.chmod(0o755)
        for relative in ("tests/runtime/test_runner.py", "node-agent/runtime/runner.py"):
            (cls.files / relative).parent.mkdir(parents=True)
            shutil.copy(ROOT / relative, cls.files / relative)
        (cls.files / "load.py").write_text(LOAD)
        (cls.files / "imports.py").write_text(IMPORTS)
        (cls.files / "behaviour.py").write_text(BEHAVIOUR)
        for policy in ("snippet", "tool-call"):
            subprocess.run([BIN / "sandboxrun-seccomp", "compile", ROOT / f"seccomp/{policy}.json",
                            "--format", "raw", "--output", cls.files / f"{policy}.bpf"], check=True)

    def enter(self, policy, *argv):
        """Output of python3 ARGV inside, under a policy if there is one; must end well."""
        command = ["unshare", "--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child",
                   "sh", "-c", ENTER, "sh", str(RUNTIME), str(self.files), "/usr/bin/python3", "-B"]
        if policy:
            command += ["/tmp/files/load.py", f"/tmp/files/{policy}.bpf", "/usr/bin/python3", "-B"]
        done = subprocess.run(
            [*command, *argv],
            env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/home/sandbox",
                 "LANG": "C.UTF-8", "TMPDIR": "/tmp", "SANDBOXRUN_TEST_UNDER_POLICY": "1"},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_version_file_tells_the_truth(self):
        version = (RUNTIME / "usr/lib/sandboxrun/version").read_text()
        script = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
        self.assertEqual(self.enter(None, "-c", script), version)

    def test_nothing_is_writable_or_privileged(self):
        for directory, names, files in os.walk(RUNTIME):
            for name in names + files:
                status = os.lstat(os.path.join(directory, name))
                if os.path.islink(os.path.join(directory, name)):
                    continue
                self.assertEqual(status.st_mode & 0o7022, 0, os.path.join(directory, name))
                self.assertEqual((status.st_uid, status.st_gid), (0, 0))

    def test_one_user(self):
        self.assertRegex((RUNTIME / "etc/passwd").read_text(), rf"^sandbox:x:{UID}:{UID}:.*\n$")
        self.assertRegex((RUNTIME / "etc/group").read_text(), rf"^sandbox:x:{UID}:\n$")

    def test_whole_standard_library_imports(self):
        for policy in (None, "snippet", "tool-call"):
            with self.subTest(policy=policy):
                self.assertEqual(self.enter(policy, "/tmp/files/imports.py"), "")

    def test_runner_under_every_policy(self):
        for policy in (None, "snippet", "tool-call"):
            with self.subTest(policy=policy):
                self.enter(policy, "/tmp/files/tests/runtime/test_runner.py")

    def test_behaviour(self):
        for policy in ("snippet", "tool-call"):
            with self.subTest(policy=policy):
                self.assertEqual(self.enter(policy, "/tmp/files/behaviour.py", policy), "")

    def test_certificates_and_time_zones(self):
        script = ("import ssl, zoneinfo; print(len(ssl.create_default_context().get_ca_certs()) > 50,"
                  " zoneinfo.ZoneInfo('Europe/Berlin'))")
        self.assertEqual(self.enter("snippet", "-c", script), "True Europe/Berlin\n")


if __name__ == "__main__":
    unittest.main()
