# SPDX-License-Identifier: Apache-2.0
"""The command line: exit codes, bad input, what it shows, how it ends, what it leaves behind."""

import itertools
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from helpers.leftovers import Watch
from helpers.local import RUNTIMES, document, need_root, program, sandboxrun

HEAD = "apiVersion: sandboxrun.dev/v1alpha1\nkind: SandboxRun\n"
MIB = 1 << 20


def setUpModule():
    need_root()


def run(*args, **kwargs):
    return sandboxrun("run", "--runtimes-dir", RUNTIMES, *args, **kwargs)


def run_code(code, *args, **spec):
    return run(*args, "-", input=json.dumps(document(code, **spec)))


class ScratchCase(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="sbr-cli-")
        self.addCleanup(shutil.rmtree, self.dir)

    def put(self, name, content):
        path = os.path.join(self.dir, name)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        return path


class TestExitCodes(unittest.TestCase):
    def expect(self, code, source, *args, **spec):
        done = run_code(source, *args, **spec)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_success(self):
        self.assertEqual(self.expect(0, "print(1)").stdout, "1\n")

    def test_own_codes(self):
        for code in (1, 2, 3, 124, 125, 137, 255):
            with self.subTest(code=code):
                done = self.expect(code, f"import sys; sys.exit({code})")
                self.assertEqual(done.stderr, "")

    def test_signal(self):
        self.expect(128 + 15, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")

    def test_deadline(self):
        done = self.expect(124, "print('first', flush=True)\nwhile True: pass", timeoutSeconds=1)
        self.assertEqual(done.stdout, "first\n")
        self.assertRegex(done.stderr, r"\Asandboxrun: probe: DeadlineExceeded: "
                                      r"killed after 1\.\d s, timeoutSeconds is 1\n\Z")

    def test_memory(self):
        done = self.expect(137, "x = b'x' * (200 << 20)",
                           resources={"limits": {"memory": "64Mi"}})
        self.assertIn("OOMKilled: memory limit of 64Mi reached", done.stderr)

    def test_flood(self):
        done = self.expect(125, "while True: print('x' * 9999)", "-q")
        self.assertGreater(len(done.stdout), 64 * MIB)
        self.assertIn("OutputLimitExceeded", done.stderr)

    def test_first_failure_in_the_order_given(self):
        docs = [document("print(0)", "a"), document("import sys; sys.exit(7)", "b"),
                document("import sys; sys.exit(8)", "c")]
        for parallel in ("1", "3"):
            done = run("--parallel", parallel, "-", input="\n---\n".join(map(json.dumps, docs)))
            self.assertEqual(done.returncode, 7, done.stderr)

    def test_usage(self):
        for args in ([], ["--nonsense"], ["a.py", "--parallel", "0"], ["a.py", "-o", "xml"],
                     ["a.yaml", "--timeout", "3"], ["a.py", "--env", "A"],
                     ["a.py", "--timeout", "soon"]):
            done = run(*args)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertRegex(done.stderr, r"\Asandboxrun: [^\n]+; see sandboxrun run --help\n\Z")

    def test_help_and_version(self):
        for args in (["--help"], ["help"], ["run", "--help"], ["version"], ["--version"]):
            done = sandboxrun(*args)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = sandboxrun("run", "--help").stdout
        for needle in ("124", "125", "137", "--parallel", "--stdin", "--env"):
            self.assertIn(needle, text)


class TestPrograms(ScratchCase):
    def test_all_options(self):
        path = self.put("job.py", "import os, sys\n"
                        "print(sys.argv[1:], os.environ['A'], os.environ['B'], sys.stdin.read())\n"
                        "print(open('/proc/self/limits').readline() != '')\n")
        data = self.put("in.txt", "données\n")
        done = run(path, "--profile", "Snippet", "--timeout", "5s", "--memory", "64Mi", "--cpu",
                   "500m", "--env", "A=1", "--env", "B=x=y", "--stdin", data, "--runtime",
                   "python3.12", "-o", "json", "--", "-x", "two words")
        found = json.loads(done.stdout)
        self.assertEqual(found["status"]["stdout"],
                         "['-x', 'two words'] 1 x=y données\n\nTrue\n")
        self.assertEqual(found["metadata"]["name"], "job")
        self.assertEqual(found["spec"]["args"], ["-x", "two words"])
        effective = found["status"]["effective"]
        self.assertEqual((effective["timeoutSeconds"], effective["memory"], effective["cpu"]),
                         (5, "64Mi", "500m"))

    def test_stdin_of_ours(self):
        path = self.put("job.py", "import sys; print(sys.stdin.read().upper())")
        self.assertEqual(run(path, "--stdin", "-", input="abc").stdout, "ABC\n")

    def test_our_stdin_is_not_the_programs(self):
        path = self.put("job.py", "import sys; print(repr(sys.stdin.read()))")
        self.assertEqual(run(path, input="secret").stdout, "''\n")

    def test_largest_program(self):
        head, tail = "data = '", "'\nprint(len(data))\n"
        fill = MIB - len(head) - len(tail)
        path = self.put("large.py", head + "x" * fill + tail)
        done = run(path)
        self.assertEqual((done.stdout, done.returncode), (f"{fill}\n", 0), done.stderr)

    def test_a_process_substitution_can_be_read(self):
        done = subprocess.run(["bash", "-c", f"{program('sandboxrun')} run --runtimes-dir "
                               f"{RUNTIMES} <(echo '{json.dumps(document('print(6)'))}')"],
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, "6\n", done.stderr)


class TestBadInput(ScratchCase):
    """Each of these: exit code 125, one line that names the field or what is missing, nothing
    started and nothing left."""

    def refuse(self, *args, says, **kwargs):
        # Nothing was started, so there is nothing to wait for.
        done = run(*args, timeout=15, **kwargs)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Asandboxrun: [^\n]*\n\Z")
        self.assertIn(says, done.stderr)
        self.assertNotRegex(done.stderr, r"[\x00-\x09\x0b-\x1f\x7f]")

    def test_documents(self):
        limits = "spec: {code: x, resources: {limits: {%s}}}\n"
        deep = "[" * 100 + "]" * 100
        bomb = "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(50))
        cases = {
            "empty": ("", "holds no SandboxRun"),
            "only separators": ("---\n---\n", "holds no SandboxRun"),
            "a scalar": ("print(1)\n", "must be an object"),
            "a program": ("import sys\nprint(f'{sys.path}')\n", "its name must end with .py"),
            "a program that is no YAML": ("print([1)\n\tx = '\n", "its name must end with .py"),
            "another kind": ("apiVersion: v1\nkind: Pod\n", "apiVersion: must be sandboxrun.dev"),
            "another version": ("apiVersion: sandboxrun.dev/v2\nkind: SandboxRun\n",
                                "apiVersion: must be sandboxrun.dev/v1alpha1"),
            "no kind": ("apiVersion: sandboxrun.dev/v1alpha1\n", "kind: is required"),
            "no spec": (HEAD, "spec"),
            "no code": (HEAD + "spec: {}\n", "spec.code"),
            "empty code": (HEAD + "spec: {code: ''}\n", "spec.code"),
            "code of another type": (HEAD + "spec: {code: 5}\n", "spec.code: must be a string"),
            "code is null": (HEAD + "spec: {code: null}\n", "spec.code"),
            "unknown field": (HEAD + "spec: {code: x, timeoutSecond: 5}\n", "spec.timeoutSecond"),
            "unknown field on top": (HEAD + "specs: {}\nspec: {code: x}\n", "specs"),
            "unknown field below": (HEAD + limits % "gpu: 1", "spec.resources.limits.gpu"),
            "timeout too long": (HEAD + "spec: {code: x, timeoutSeconds: 61}\n",
                                 "spec.timeoutSeconds: 61 is above the maximum of 60"),
            "timeout of zero": (HEAD + "spec: {code: x, timeoutSeconds: 0}\n",
                                "spec.timeoutSeconds"),
            "timeout below zero": (HEAD + "spec: {code: x, timeoutSeconds: -1}\n",
                                   "spec.timeoutSeconds"),
            "timeout as text": (HEAD + "spec: {code: x, timeoutSeconds: '5'}\n",
                                "spec.timeoutSeconds"),
            "timeout in parts": (HEAD + "spec: {code: x, timeoutSeconds: 1.5}\n",
                                 "spec.timeoutSeconds"),
            "huge timeout": (HEAD + "spec: {code: x, timeoutSeconds: 99999999999999999999}\n",
                             "spec.timeoutSeconds"),
            "memory too large": (HEAD + limits % "memory: 513Mi", "spec.resources.limits.memory"),
            "memory too small": (HEAD + limits % "memory: 1Mi", "spec.resources.limits.memory"),
            "no quantity": (HEAD + limits % "memory: lots", "spec.resources.limits.memory"),
            "cpu too large": (HEAD + limits % "cpu: 1001m", "spec.resources.limits.cpu"),
            "cpu of zero": (HEAD + limits % "cpu: 0", "spec.resources.limits.cpu"),
            "unknown profile": (HEAD + "spec: {code: x, profile: Root}\n", "spec.profile"),
            "egress that allows nothing it could": (
                HEAD + "spec: {code: x, profile: ToolCall, egress: [{ports: [{port: 22}]}]}\n",
                "spec.egress[0].ports"),
            "egress without network": (HEAD + "spec: {code: x, egress: []}\n", "spec.egress"),
            "runtime with a path": (HEAD + "spec: {code: x, runtime: ../../etc}\n",
                                    "spec.runtime"),
            "runtime that isn't there": (HEAD + "spec: {code: x, runtime: perl5}\n",
                                         "spec.runtime: this machine has no runtime perl5"),
            "65 args": (HEAD + "spec: {code: x, args: [%s]}\n" % ("a," * 65), "spec.args"),
            "long arg": (HEAD + "spec: {code: x, args: [%s]}\n" % ("a" * 16385), "spec.args[0]"),
            "arg of another type": (HEAD + "spec: {code: x, args: [1]}\n", "spec.args[0]"),
            "65 env": (HEAD + "spec: {code: x, env: [%s]}\n" %
                       ",".join(f"{{name: A{i}}}" for i in range(65)), "spec.env"),
            "env twice": (HEAD + "spec: {code: x, env: [{name: A}, {name: A}]}\n", "spec.env[1]"),
            "env without name": (HEAD + "spec: {code: x, env: [{value: A}]}\n", "spec.env[0].name"),
            "env with a bad name": (HEAD + "spec: {code: x, env: [{name: A=B}]}\n",
                                    "spec.env[0].name"),
            "value and valueFrom": (HEAD + "spec: {code: x, env: [{name: A, value: b, valueFrom: "
                                    "{secretKeyRef: {}}}]}\n", "spec.env[0].valueFrom"),
            "bad name": (HEAD + "metadata: {name: 'A B'}\nspec: {code: x}\n", "metadata.name"),
            "name with control bytes": (HEAD + 'metadata: {name: "a\\e[2J\\nb"}\nspec: {code: x}\n',
                                        "metadata.name"),
            "NUL": (HEAD + 'spec: {code: "a\\0b"}\n', "NUL"),
            "raw NUL": (HEAD + "spec: {code: a\0b}\n", "NUL"),
            "not UTF-8": (HEAD.encode() + b"spec: {code: \xff}\n", "UTF-8"),
            "alias": (HEAD + "spec: &a {code: x}\nstatus: *a\n", "anchors and aliases"),
            "bomb": (bomb, "anchors and aliases"),
            "merge key": (HEAD + "spec: {<<: {code: x}}\n", "merge keys"),
            "tag": (HEAD + "spec: !!python/object {code: x}\n", "tags"),
            "deep nesting": (HEAD + f"spec: {deep}\n", "nested too deeply"),
            "deep JSON": ('{"spec":' + "[" * 100000 + "]" * 100000 + "}", "nested"),
            "duplicate key": (HEAD + "spec: {code: x, code: y}\n", 'duplicate key "code"'),
            "duplicate key in JSON": ('{"kind":"SandboxRun","kind":"SandboxRun"}', "duplicate"),
            "no YAML": (HEAD + "spec: {code: [\n", "line "),
            "no JSON": ('{"kind": "SandboxRun"', "line "),
            "the second of two": (HEAD + "spec: {code: x}\n---\n" + HEAD + "spec: {code: ''}\n",
                                  "document 2: spec.code"),
            "257 documents": ("---\n".join([HEAD + "spec: {code: x}\n"] * 257),
                              "more than 256 documents"),
        }
        with Watch(self):
            for name, (text, says) in cases.items():
                with self.subTest(name):
                    path = self.put("bad.yaml", text)
                    self.refuse(path, says=says)

    def test_sizes(self):
        with Watch(self):
            code = document("x" * (MIB + 1))
            self.refuse(self.put("a.yaml", json.dumps(code)), says="1048577 bytes")
            both = document("x" * MIB, stdin="y")
            self.refuse(self.put("b.yaml", json.dumps(both)), says="together are 1048577 bytes")
            self.refuse(self.put("c.yaml", "#" * (4 * MIB + 1)), says="longer than 4194304 bytes")
            self.refuse(self.put("d.py", "#" * (MIB + 1)), says="longer than 1048576 bytes")
            self.refuse("/dev/zero", says="longer than 4194304 bytes")

    def test_files(self):
        with Watch(self):
            self.refuse(self.dir, says="is a directory")
            self.refuse("/nonexistent/a.yaml", says="No such file or directory")
            self.refuse("/nonexistent/a.py", says="No such file or directory")
            self.refuse(self.put("a.py", "x"), "--stdin", "/nonexistent", says="--stdin: ")
            self.refuse("-", input="", says="stdin: holds no SandboxRun")
            self.refuse(self.put("b.py", "x"), "5", says="arguments of a program go behind --")

    def test_programs(self):
        path = self.put("a.py", "print(1)")
        with Watch(self):
            self.refuse(self.put("b.py", ""), says="spec.code")
            self.refuse(self.put("c.py", b"a\0b"), says="byte 2 is a NUL byte")
            self.refuse(self.put("d.py", b"\xff"), says="byte 1 is not UTF-8")
            self.refuse(path, "--timeout", "61", says="--timeout: spec.timeoutSeconds")
            self.refuse(path, "--memory", "1Gi", says="--memory: spec.resources.limits.memory")
            self.refuse(path, "--cpu", "2", says="--cpu: spec.resources.limits.cpu")
            self.refuse(path, "--profile", "Root", says="--profile: spec.profile")
            self.refuse(path, "--env", "A B=1", says="--env: spec.env[0].name")
            self.refuse(path, "--stdin", self.put("bin", b"\x80"), says="--stdin: byte 1")

    def test_nothing_runs_if_one_of_many_is_bad(self):
        good = self.put("good.yaml", json.dumps(document("print('ran')")))
        for bad in (self.put("bad.yaml", "kind: Pod\n"),
                    self.put("no.yaml", json.dumps(document("x", profile="Root")))):
            done = run(good, bad)
            self.assertEqual((done.returncode, done.stdout), (125, ""))


class TestPreconditions(ScratchCase):
    """What the machine lacks: one line that says what to do."""

    def setUp(self):
        super().setUp()
        self.file = self.put("a.yaml", json.dumps(document("print(1)")))

    def refuse(self, argv, says):
        with Watch(self):
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
        self.assertRegex(done.stderr, r"\A[^\n]*\n\Z")
        self.assertIn(says, done.stderr)

    def argv(self, *args):
        return [program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, *args, self.file]

    def test_no_root(self):
        os.chmod(self.dir, 0o755)
        self.refuse(["setpriv", "--reuid", "65532", "--regid", "65532", "--clear-groups",
                     *self.argv()], "run it with sudo")

    def test_no_cgroups(self):
        self.refuse(["unshare", "-m", "sh", "-c", 'umount -l /sys/fs/cgroup && exec "$@"', "sh",
                     *self.argv()], "cgroup")

    def test_no_runtimes(self):
        empty = os.path.join(self.dir, "empty")
        os.mkdir(empty)
        self.refuse(self.argv("--runtimes-dir", empty), "hack/make-runtime.sh")
        self.refuse(self.argv("--runtimes-dir", "/nonexistent"), "hack/make-runtime.sh")

    def test_no_jailer(self):
        self.refuse(self.argv("--jailer", "/nonexistent"), "--jailer /nonexistent: No such file")
        lonely = shutil.copy(program("sandboxrun"), self.dir)
        self.refuse([lonely, *self.argv()[1:]], "no sandboxrun-jailer in")

    def test_a_jailer_that_is_none(self):
        self.refuse(self.argv("--jailer", "/bin/true"), "the jailer ended before it said hello")


class TestPrivilege(unittest.TestCase):
    """Who parses has no rights; only the jailer has."""

    def status_of(self, **env):
        argv = [program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, "-q", "-"]
        full = {**{k: v for k, v in os.environ.items() if not k.startswith("SUDO_")}, **env}
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=full) as running:
            end = time.monotonic() + 10
            # It waits for the end of stdin: the files are open, nothing is parsed yet.
            while time.monotonic() < end:
                with open(f"/proc/{running.pid}/status", encoding="utf-8") as file:
                    status = dict(line.rstrip("\n").split(":", 1) for line in file)
                if status["NoNewPrivs"].strip() == "1":
                    break
                time.sleep(0.01)
            running.stdin.close()
            running.wait()
        return {key: value.split() for key, value in status.items()}

    def test_no_rights_before_parsing(self):
        for env, uid, gid in (({}, "65532", "65532"), ({"SUDO_UID": "1234", "SUDO_GID": "1235"},
                                                       "1234", "1235"),
                              ({"SUDO_UID": "0", "SUDO_GID": "0"}, "65532", "65532")):
            status = self.status_of(**env)
            self.assertEqual(status["Uid"], [uid] * 4)
            self.assertEqual(status["Gid"], [gid] * 4)
            self.assertEqual(status["Groups"], [])
            self.assertEqual(status["NoNewPrivs"], ["1"])
            for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual(status[name], ["0" * 16], name)


class TestOutput(ScratchCase):
    def test_streams_come_as_they_are_written(self):
        path = self.put("slow.py", "import time\nprint('first', flush=True)\ntime.sleep(3)\n")
        started = time.monotonic()
        with subprocess.Popen([program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, path],
                              stdout=subprocess.PIPE) as running:
            self.assertEqual(running.stdout.readline(), b"first\n")
            self.assertLess(time.monotonic() - started, 2.5)

    def test_bytes_are_passed_on_unchanged(self):
        path = self.put("bytes.py", "import os\nos.write(1, bytes(range(256)) * 1000)\n"
                        "os.write(2, b'\\xff\\x1b[1m')\n")
        done = subprocess.run([program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, path],
                              capture_output=True, timeout=60)
        self.assertEqual(done.stdout, bytes(range(256)) * 1000)
        self.assertEqual(done.stderr, b"\xff\x1b[1m")

    def test_yaml_can_be_run_again(self):
        docs = [document("print('a: b')\nprint('# x')\n", "a"),
                document("import sys\nsys.exit(4)\n", "b")]
        first = run("-o", "yaml", "-", input="\n---\n".join(map(json.dumps, docs)))
        self.assertEqual(first.returncode, 4)
        self.assertEqual(first.stdout.count("\n---\n"), 1)
        again = run("-o", "json", "-", input=first.stdout)
        items = json.loads(again.stdout)["items"]
        self.assertEqual([item["metadata"]["name"] for item in items], ["a", "b"])
        self.assertEqual(items[0]["status"]["stdout"], "a: b\n# x\n")
        # And so can the List.
        third = run("-o", "json", "-", input=again.stdout)
        self.assertEqual([i["status"]["exitCode"] for i in json.loads(third.stdout)["items"]],
                         [0, 4])

    def test_groups_are_not_mixed(self):
        code = ("import os, time\nfor _ in range(50):\n    print('NAME' * 20, flush=True)\n"
                "    time.sleep(0.002)\n")
        docs = [document(code.replace("NAME", c), f"run-{c}") for c in "abcd"]
        done = run("--parallel", "4", "-", input="\n---\n".join(map(json.dumps, docs)))
        self.assertEqual(done.returncode, 0, done.stderr)
        groups = [c for c, _ in itertools.groupby(done.stdout.replace("\n", ""))]
        self.assertEqual(sorted(groups), ["a", "b", "c", "d"])
        self.assertEqual(len(re.findall(r"^==> run-[abcd]: Completed: ", done.stderr, re.M)), 4)

    def test_parallel_runs_are_parallel(self):
        docs = [document("import time; time.sleep(1)", f"s{i}") for i in range(4)]
        text = "\n---\n".join(map(json.dumps, docs))
        started = time.monotonic()
        items = json.loads(run("--parallel", "4", "-o", "json", "-", input=text).stdout)["items"]
        together = time.monotonic() - started
        starts = [item["status"]["startTime"] for item in items]
        ends = [item["status"]["completionTime"] for item in items]
        self.assertLess(max(starts), min(ends), f"{together} s")

    def on_terminal(self, *args):
        """Runs with stdout and stderr on a terminal; what the terminal got."""
        master, slave = pty.openpty()
        with subprocess.Popen([program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, *args],
                              stdin=subprocess.DEVNULL, stdout=slave, stderr=slave) as running:
            os.close(slave)
            shown = b""
            while select.select([master], [], [], 20)[0]:
                try:
                    part = os.read(master, 65536)
                except OSError:
                    break
                if not part:
                    break
                shown += part
            running.wait()
        os.close(master)
        return shown.replace(b"\r\n", b"\n")

    def test_a_terminal_gets_no_escape_sequences(self):
        path = self.put("evil.py", "import os\nos.write(1, b'\\x1b]0;owned\\x07\\xc2\\x9b2J\\x9b')\n"
                        "os.write(2, b'\\x1b[31mred')\n")
        shown = self.on_terminal(path)
        self.assertNotIn(b"\x1b", shown)
        self.assertNotIn(b"\x9b", shown.replace(b"<U+009B>", b""))
        self.assertIn(b"^[]0;owned^G<U+009B>2J\xef\xbf\xbd", shown)
        self.assertIn(b"^[[31mred", shown)
        self.assertRegex(shown, rb"\nsandboxrun: evil: Completed: exited with code 0; \d")
        self.assertIn(b"\x1b[31mred", self.on_terminal("--raw", path))
        self.assertNotIn(b"Completed", self.on_terminal("--quiet", path))


class TestEnds(ScratchCase):
    """Signals, readers that leave or stall, a jailer that dies: a defined end, nothing left."""

    LOOP = "print('on', flush=True)\nwhile True: pass\n"
    FLOOD = "while True: print('x' * 9999)\n"

    def start(self, code, *args, **kwargs):
        path = self.put("run.py", code)
        running = subprocess.Popen([program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES,
                                    *args, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   **kwargs)
        self.addCleanup(running.stdout.close)
        self.addCleanup(running.stderr.close)
        return running

    def jailer_of(self, running):
        with open(f"/proc/{running.pid}/task/{running.pid}/children", encoding="utf-8") as file:
            return int(file.read().split()[0])

    def test_signals_cancel(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)):
            with Watch(self):
                running = self.start(self.LOOP)
                self.assertEqual(running.stdout.readline(), b"on\n")
                started = time.monotonic()
                running.send_signal(number)
                self.assertEqual(running.wait(20), code)
                self.assertLess(time.monotonic() - started, 5)

    def test_a_cancelled_object_says_so(self):
        running = self.start(self.LOOP, "-o", "json")
        time.sleep(0.5)
        running.send_signal(signal.SIGTERM)
        out, _ = running.communicate(timeout=20)
        status = json.loads(out)["status"]
        self.assertEqual((status["reason"], status["exitCode"]), ("Cancelled", -1))
        self.assertEqual(status["message"], "cancelled by SIGTERM")
        self.assertEqual(running.returncode, 143)

    def test_an_ignored_signal_stays_ignored(self):
        running = self.start("import time; time.sleep(1)", preexec_fn=lambda: signal.signal(
            signal.SIGHUP, signal.SIG_IGN))
        time.sleep(0.4)
        running.send_signal(signal.SIGHUP)
        self.assertEqual(running.wait(20), 0)

    def test_a_stalled_reader_does_not_hold_up_a_cancellation(self):
        with Watch(self):
            running = self.start(self.FLOOD)
            time.sleep(0.7)
            running.send_signal(signal.SIGINT)
            self.assertEqual(running.wait(10), 130)

    def test_a_stalled_reader_does_not_hold_up_the_deadline(self):
        with Watch(self):
            running = self.start(self.FLOOD, "--timeout", "1")
            time.sleep(2.5)
            jailed = [pid for pid in os.listdir("/proc") if pid.isdigit() and
                      self.parent(pid) == self.jailer_of(running)]
            self.assertEqual(jailed, [])
            running.stdout.read()
            self.assertEqual(running.wait(10), 124)

    def parent(self, pid):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                return int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            return 0

    def test_a_reader_that_leaves_ends_it(self):
        with Watch(self):
            running = self.start(self.FLOOD)
            running.stdout.read(10)
            running.stdout.close()
            self.assertEqual(running.wait(10), 125)
            self.assertEqual(running.stderr.read(),
                             b"sandboxrun: write to stdout: Broken pipe\n")

    def test_a_full_disk_ends_it(self):
        with open("/dev/full", "wb") as full:
            path = self.put("a.py", "print(1)")
            done = subprocess.run([program("sandboxrun"), "run", "--runtimes-dir", RUNTIMES, path],
                                  stdout=full, stderr=subprocess.PIPE, timeout=20)
        self.assertEqual(done.returncode, 125)
        self.assertEqual(done.stderr, b"sandboxrun: write to stdout: No space left on device\n")

    def test_the_jailer_dies(self):
        with Watch(self):
            running = self.start(self.LOOP)
            self.assertEqual(running.stdout.readline(), b"on\n")
            os.kill(self.jailer_of(running), signal.SIGKILL)
            self.assertEqual(running.wait(20), 125)
            self.assertEqual(running.stderr.read(), b"sandboxrun: the jailer is gone; the jailer "
                                                    b"was ended by signal 9 (SIGKILL)\n")
            # What it could not sweep is swept by the next one.
            self.assertEqual(run_code("print(1)").returncode, 0)

    def test_the_jailer_is_told_to_stop(self):
        with Watch(self):
            running = self.start(self.LOOP, "-o", "json")
            time.sleep(0.5)
            os.kill(self.jailer_of(running), signal.SIGTERM)
            out, _ = running.communicate(timeout=20)
            self.assertEqual(running.returncode, 125)
            self.assertEqual(json.loads(out)["status"]["reason"], "JailerLost")

    def test_we_die(self):
        with Watch(self):
            running = self.start(self.LOOP)
            self.assertEqual(running.stdout.readline(), b"on\n")
            running.kill()
            running.wait()

    def test_ctrl_c_on_a_terminal_reaches_us_alone(self):
        """The whole foreground process group gets SIGINT: the jailer must outlive it."""
        with Watch(self):
            running = self.start(self.LOOP, "-o", "json", start_new_session=True)
            time.sleep(0.5)
            os.killpg(running.pid, signal.SIGINT)
            out, err = running.communicate(timeout=20)
            self.assertEqual(running.returncode, 130, err)
            self.assertEqual(json.loads(out)["status"]["reason"], "Cancelled")


if __name__ == "__main__":
    unittest.main()
