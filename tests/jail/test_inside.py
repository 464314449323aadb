# SPDX-License-Identifier: Apache-2.0
"""Every lock of the jail, seen from inside by a program that runs in it."""

import json
import os
import subprocess
import unittest

from helpers.local import program, run_json, run_status

PROC_STATUS = """
import json
status = dict(line.rstrip("\\n").split(":\\t", 1) for line in open("/proc/self/status"))
print(json.dumps(status))
"""


class TestIdentity(unittest.TestCase):
    def test_uid_gid_and_groups(self):
        ids = run_json("import os, json; print(json.dumps([os.getresuid(), os.getresgid(), "
                       "os.getgroups()]))")
        self.assertEqual(ids, [[65532] * 3, [65532] * 3, []])

    def test_the_user_namespace_has_one_uid_and_one_gid(self):
        maps = run_json("import json; print(json.dumps([open('/proc/self/' + n).read().split() "
                        "for n in ('uid_map', 'gid_map')]))")
        for inside, _, count in maps:
            self.assertEqual((inside, count), ("65532", "1"))

    def test_two_live_sandboxes_have_different_kernel_uids(self):
        code = "import time; print(open('/proc/self/uid_map').read().split()[1]); time.sleep(1)"
        docs = "\n".join("---\n" + json.dumps(
            {"apiVersion": "sandboxrun.dev/v1alpha1", "kind": "SandboxRun",
             "metadata": {"name": f"twin-{i}"}, "spec": {"code": code}}) for i in range(2))
        from helpers.local import RUNTIMES, sandboxrun
        done = sandboxrun("run", "--runtimes-dir", RUNTIMES, "--parallel", "2", "-o", "json", "-",
                          input=docs)
        items = json.loads(done.stdout)["items"]
        outer = [item["status"]["stdout"] for item in items]
        self.assertEqual(len(set(outer)), 2, outer)

    def test_setuid_and_setgroups_are_refused(self):
        outcome = run_json("""
import os, json
refused = []
for call in (lambda: os.setuid(0), lambda: os.setgroups([0]), lambda: os.setgid(0),
             lambda: os.setresuid(1, 1, 1)):
    try:
        call()
        refused.append(False)
    except OSError:
        refused.append(True)
print(json.dumps(refused))
""")
        self.assertEqual(outcome, [True] * 4)


class TestPrivilege(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.status = run_json(PROC_STATUS)

    def test_every_capability_set_is_empty(self):
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            self.assertEqual(int(self.status[name], 16), 0, name)

    def test_no_new_privs(self):
        self.assertEqual(self.status["NoNewPrivs"], "1")

    def test_seccomp_filter_mode(self):
        self.assertEqual(self.status["Seccomp"], "2")

    def test_signals_are_not_blocked_or_ignored(self):
        self.assertEqual(int(self.status["SigBlk"], 16), 0)

    def test_rlimits(self):
        limits = run_json("import resource as r, json; print(json.dumps({n[7:]: r.getrlimit("
                          "getattr(r, n)) for n in dir(r) if n.startswith('RLIMIT_')}))")
        expected = {"CORE": [1, 1], "NOFILE": [1024, 4096], "NPROC": [128, 128],
                    "FSIZE": [512 << 20] * 2, "MEMLOCK": [64 << 10] * 2,
                    "STACK": [8 << 20, 64 << 20], "MSGQUEUE": [0, 0],
                    "SIGPENDING": [1024, 1024], "NICE": [0, 0], "RTPRIO": [0, 0]}  # fmt: skip
        self.assertEqual({name: limits[name] for name in expected}, expected)

    def test_the_core_limit_can_not_be_changed(self):
        status = run_status("import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))")
        self.assertEqual(status["reason"], "Error")
        self.assertRegex(status["stderr"], "not permitted|not allowed")

    def test_the_oom_killer_prefers_the_payload(self):
        self.assertEqual(run_json("print(open('/proc/self/oom_score_adj').read())"), 1000)


class TestNamespaces(unittest.TestCase):
    def test_none_is_shared_with_the_host(self):
        inside = run_json("import os, json; print(json.dumps({n: os.readlink('/proc/self/ns/' + n)"
                          " for n in ('user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup')}))")
        for name, link in inside.items():
            self.assertNotEqual(link, os.readlink(f"/proc/self/ns/{name}"), name)

    def test_the_processes_are_the_reaper_and_the_program(self):
        self.assertEqual(run_json("import os, json; print(json.dumps(sorted(int(p) for p in "
                                  "os.listdir('/proc') if p.isdigit())))")[-1], 2)
        self.assertEqual(run_json("import os; print(os.getppid())"), 1)

    def test_process_one_can_not_be_killed_or_read(self):
        outcome = run_json("""
import os, json, signal
seen = {}
for sig in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGSEGV):
    try:
        os.kill(1, sig)
        seen[sig] = "sent"
    except OSError as e:
        seen[sig] = e.errno
for name in ("mem", "environ", "maps", "fd/0", "root", "cwd", "exe"):
    try:
        open("/proc/1/" + name, "rb").read(1)
        seen[name] = "read"
    except OSError as e:
        seen[name] = "refused"
print(json.dumps(seen))
""")
        for name in ("mem", "environ", "maps", "fd/0", "root", "cwd", "exe"):
            self.assertEqual(outcome[name], "refused", name)

    def test_only_a_downed_loopback(self):
        # A loopback that is up would have ::1 and, in the local table, 127.0.0.1.
        names, addresses, routes = run_json("""
import json
def lines(name):
    return open("/proc/self/net/" + name).read().splitlines()
names = [line.split(":")[0].strip() for line in lines("dev")[2:]]
print(json.dumps([names, lines("if_inet6"), lines("fib_trie")]))
""")
        self.assertEqual(names, ["lo"])
        self.assertEqual(addresses, [])
        self.assertNotIn("127.0.0.1", "".join(routes))

    def test_host_and_domain_name_are_our_own(self):
        names = run_json("""
import ctypes, json, os
domain = ctypes.create_string_buffer(65)
assert ctypes.CDLL(None).getdomainname(domain, len(domain)) == 0
print(json.dumps([os.uname().nodename, domain.value.decode()]))
""")
        self.assertEqual(names, ["sandbox", "(none)"])


class TestFiles(unittest.TestCase):
    def test_mounts(self):
        mounts = run_json("""
import json
found = {}
for line in open("/proc/self/mountinfo"):
    f = line.split()
    found[f[4]] = [f[5], f[f.index("-") + 1]]
print(json.dumps(found))
""")
        def options(path):
            return set(mounts[path][0].split(","))
        self.assertLessEqual({"ro", "nosuid", "nodev"}, options("/"))
        self.assertLessEqual({"ro", "nosuid", "nodev", "noexec"}, options("/proc"))
        for path in ("/tmp", "/dev/shm", "/home/sandbox"):
            self.assertEqual(mounts[path][1], "tmpfs", path)
            self.assertLessEqual({"rw", "nosuid", "nodev"}, options(path))
        self.assertIn("ro", options("/dev"))
        self.assertNotIn("/sys", mounts)
        for path in mounts:
            self.assertIn(path.split("/")[1], ("", "proc", "tmp", "dev", "home"), path)

    def test_nothing_else_can_be_written(self):
        writable = run_json("""
import os, json
found = []
for top, names, files in os.walk("/"):
    if top.startswith("/proc"):
        names[:] = []
        continue
    if os.access(top, os.W_OK):
        found.append(top)
        names[:] = []
print(json.dumps(sorted(found)))
""")
        self.assertEqual(writable, ["/dev/shm", "/home/sandbox", "/tmp"])

    def test_the_private_file_systems_have_caps_and_start_empty(self):
        sizes = run_json("""
import os, json
found = {}
for path in ("/tmp", "/dev/shm", "/home/sandbox"):
    s = os.statvfs(path)
    found[path] = [s.f_blocks * s.f_frsize, s.f_files,
                   [n for n in os.listdir(path) if n != "main.py"]]
print(json.dumps(found))
""")
        for path, (size, inodes, names) in sizes.items():
            self.assertLessEqual(size, 512 << 20, path)
            self.assertGreater(size, 0, path)
            self.assertGreater(inodes, 0, path)
            self.assertLess(inodes, 1 << 20, path)
            self.assertEqual(names, [], path)

    def test_filling_tmp_is_an_error_or_the_memory_limit_and_nothing_else(self):
        status = run_status("""
try:
    with open("/tmp/fill", "wb") as f:
        while True:
            f.write(bytes(1 << 20))
except OSError as e:
    print(e.errno)
""")
        self.assertIn(status["reason"], ("Completed", "OOMKilled"))

    def test_devices(self):
        names = run_json("import os, json; print(json.dumps(sorted(os.listdir('/dev'))))")
        self.assertLessEqual(set(names), {"null", "zero", "full", "random", "urandom", "tty",
                                          "shm", "fd", "stdin", "stdout", "stderr"})
        self.assertLessEqual({"null", "zero", "full", "random", "urandom", "shm"}, set(names))

    def test_standard_output_can_be_reopened(self):
        self.assertEqual(run_json("open('/dev/stdout', 'w').write('7')"), 7)

    def test_proc_shows_processes_only(self):
        status = run_status("open('/proc/meminfo')")
        self.assertIn("No such file", status["stderr"])


class TestReach(unittest.TestCase):
    def test_descriptors(self):
        found = run_json("""
import os, json
open_fds = {}
for n in os.listdir("/proc/self/fd"):
    try:
        open_fds[n] = os.readlink("/proc/self/fd/" + n)
    except OSError:
        pass
print(json.dumps(open_fds))
""")
        self.assertEqual(found.pop("0"), "/dev/null")
        self.assertTrue(found.pop("1").startswith("pipe:"))
        self.assertTrue(found.pop("2").startswith("pipe:"))
        self.assertEqual(found, {})

    def test_environment_is_the_allow_list(self):
        os.environ["SANDBOXRUN_TEST_SECRET"] = "secret"
        self.addCleanup(os.environ.pop, "SANDBOXRUN_TEST_SECRET")
        names = run_json("import os, json; print(json.dumps(sorted(os.environ)))",
                         env=[{"name": "GIVEN", "value": "1"}])
        self.assertIn("GIVEN", names)
        allowed = {"PATH", "HOME", "TMPDIR", "LANG", "USER", "LOGNAME", "PYTHONDONTWRITEBYTECODE",
                   "PYTHONUNBUFFERED", "MPLCONFIGDIR", "MPLBACKEND", "OMP_NUM_THREADS",
                   "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "SANDBOXRUN_MEMORY_BYTES",
                   "SANDBOXRUN_CPU_MILLI", "GIVEN"}
        self.assertLessEqual(set(names), allowed)

    def test_network_calls_fail_at_once(self):
        seconds = run_json("""
import socket, json, time
start = time.monotonic()
try:
    socket.getaddrinfo("example.org", 443)
    raise SystemExit("resolved")
except OSError:
    pass
try:
    socket.create_connection(("192.0.2.1", 443), timeout=5)
    raise SystemExit("connected")
except OSError:
    pass
print(time.monotonic() - start)
""")
        self.assertLess(seconds, 1.0)

    def test_forbidden_system_calls_are_refused_softly(self):
        outcome = run_json("""
import ctypes, json, os
libc = ctypes.CDLL(None, use_errno=True)
found = {}
for name, number in (("mount", 165), ("ptrace", 101), ("bpf", 321), ("unshare", 272),
                     ("setns", 308), ("io_uring_setup", 425), ("userfaultfd", 323),
                     ("perf_event_open", 298), ("keyctl", 250), ("chroot", 161),
                     ("process_vm_readv", 310), ("clone3", 435)):
    ctypes.set_errno(0)
    found[name] = [libc.syscall(number, 0, 0, 0, 0, 0, 0), ctypes.get_errno()]
print(json.dumps(found))
""") if os.uname().machine == "x86_64" else {}
        for name, (result, errno) in outcome.items():
            self.assertEqual(result, -1, name)
            self.assertIn(errno, (1, 38), name)


class TestPrograms(unittest.TestCase):
    def test_the_jailer_links_no_parser_of_foreign_formats(self):
        needed = subprocess.run(["readelf", "-d", program("sandboxrun-jailer")],
                                capture_output=True, text=True, check=True).stdout
        libraries = [line.split("[")[1].rstrip("]") for line in needed.splitlines()
                     if "(NEEDED)" in line]
        self.assertTrue(libraries)
        for library in libraries:
            self.assertTrue(library.startswith(("libc.so", "ld-linux", "libmnl.so")), library)

    def test_the_release_is_hardened(self):
        for name in ("sandboxrun", "sandboxrun-agent", "sandboxrun-jailer",
                     "sandboxrun-controller"):
            text = subprocess.run(["readelf", "-hldW", program(name)], capture_output=True,
                                  text=True, check=True).stdout
            self.assertIn("DYN", text, name)
            self.assertIn("GNU_RELRO", text, name)
            self.assertRegex(text, r"BIND_NOW|NOW", name)
            stack = next(line for line in text.splitlines() if "GNU_STACK" in line)
            self.assertNotIn("E", stack.split()[-2], name)


if __name__ == "__main__":
    unittest.main()
