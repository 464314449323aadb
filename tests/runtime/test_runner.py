#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The runner against the real thing: every program of a table is run by `python3 main.py` and by
the runner, and stdout, stderr and exit status must be the same, byte for byte.

Needs no jail and no root: the runner takes its working directory for the program's home. The
interpreter under test is $SANDBOXRUN_TEST_PYTHON, or the one that runs this file.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PYTHON = os.environ.get("SANDBOXRUN_TEST_PYTHON", sys.executable)
# Of the runner: as of a run that is there, and as of one that is awaited. The latter under a policy
# is a layer of its own, in sandboxes that have waited (tests/pool).
STARTS = (False,) if "SANDBOXRUN_TEST_UNDER_POLICY" in os.environ else (False, True)
RUNNER = os.path.join(os.path.dirname(__file__), "../../node-agent/runtime/runner.py")
TIMEOUT_SECONDS = 60
EXIT_REFUSED = 70


def u32(number):
    return number.to_bytes(4, "little")


def request(code, args=(), env=(), stdin=None, magic=b"SBRQ", version=1, flags=None):
    if flags is None:
        flags = 0 if stdin is None else 1
    numbers = (version, flags, len(args), len(env), len(code), len(stdin or b""))
    message = magic + b"".join(map(u32, numbers)) + code + (stdin or b"")
    for arg in args:
        message += u32(len(arg)) + arg
    for name, value in env:
        message += u32(len(name)) + name + u32(len(value)) + value
    return message


class Case:
    def __init__(self, code, args=(), env=(), stdin=None, normalise=None):
        self.code = code if isinstance(code, bytes) else code.encode()
        self.args, self.env, self.stdin, self.normalise = args, env, stdin, normalise


def without_counts(text):
    """The runner's own frame costs one level of recursion."""
    return re.sub(rb"repeated \d+ more", b"repeated N more", text)


def without_addresses(text):
    return re.sub(rb"0x[0-9a-f]+", b"0xN", text)


CASES = {
    # ---- the end
    "exit codes": Case("import sys\nsys.exit(3)\n"),
    "exit code None": Case("import sys\nsys.exit()\n"),
    "exit code True": Case("raise SystemExit(True)\n"),
    "exit code negative": Case("raise SystemExit(-1)\n"),
    "exit code 256": Case("raise SystemExit(256)\n"),
    "exit code beyond a long": Case("raise SystemExit(2**70)\n"),
    "exit with a text": Case("raise SystemExit('sorry')\n"),
    "exit with an object": Case("raise SystemExit([1, 'a'])\n"),
    "exit with a subclass": Case(
        "class Out(SystemExit):\n    code = property(lambda self: 7)\nraise Out(5)\n"),
    "exit in an excepthook": Case(
        "import sys\nsys.excepthook = lambda *_: sys.exit(9)\nraise ValueError\n"),
    "an excepthook that prints": Case(
        "import sys\nsys.excepthook = lambda *e: print(e[0], file=sys.stderr)\nraise ValueError\n"),
    "an excepthook that fails": Case(
        "import sys\ndef hook(*_): raise KeyError\nsys.excepthook = hook\nraise ValueError\n"),
    "atexit": Case(
        "import atexit\nfor i in range(3): atexit.register(print, i)\nprint('main')\n"),
    "atexit that fails": Case("import atexit\natexit.register(lambda: 1 / 0)\nprint('main')\n"),
    "atexit that exits": Case(
        "import atexit, sys\natexit.register(print, 'first')\natexit.register(sys.exit, 4)\n"),
    "atexit that is emptied": Case("import atexit\natexit._clear()\nprint('main')\n"),
    "atexit that runs early": Case(
        "import atexit\natexit.register(print, 1)\natexit._run_exitfuncs()\nprint('goes on')\n"),
    "a global that says goodbye": Case(
        "class Guard:\n    def __init__(self, name): self.name = name\n"
        "    def __del__(self): print('bye', self.name)\n"
        "a, _b, c = Guard('a'), Guard('b'), Guard('c')\nholder = [Guard('held')]\nprint('end')\n"),
    "many that say nothing": Case(
        "import dataclasses, datetime, json\nclass Base:\n    count = 0\n"
        "    def __init__(self): self.items = [1, {'a': (2.0, 'x')}]\n"
        "    @property\n    def size(self): return len(self.items)\n"
        "    @staticmethod\n    def one(): return 1\n    @classmethod\n    def two(cls): return 2\n"
        "class Derived(Base): pass\n"
        "def named(a=1, *, b=(2, 3)): return a\nheld = [Derived() for _ in range(5)]\n"
        "held.append(held)\nprint(held[0].size, named(), Derived.two())\n"),
    "a goodbye deep within": Case(
        "class Guard:\n    def __del__(self): print('bye')\n"
        "class Box:\n    pass\nbox = Box()\nbox.held = {'a': [(Guard(),)]}\nprint('end')\n"),
    "a goodbye of a class": Case(
        "class Guard:\n    def __del__(self): print('bye')\nclass Box:\n    held = Guard()\n"),
    "a goodbye in a default": Case(
        "class Guard:\n    def __del__(self): print('bye')\ndef f(a=Guard()): pass\n"),
    "a goodbye in a closure": Case(
        "class Guard:\n    def __del__(self): print('bye')\n"
        "def outer():\n    held = Guard()\n    return lambda: held\nf = outer()\n"),
    "a goodbye in a slot": Case(
        "class Guard:\n    def __del__(self): print('bye')\n"
        "class Box:\n    __slots__ = ('held',)\nbox = Box()\nbox.held = Guard()\n"),
    "a goodbye of a list's child": Case(
        "class Loud(list):\n    def __del__(self): print('bye')\nloud = Loud()\n"),
    "a goodbye in a function that failed": Case(
        "class Guard:\n    def __del__(self): print('bye')\n"
        "def work():\n    held = Guard()\n    raise ValueError\nwork()\n"),
    "a goodbye in a function that exits": Case(
        "import sys\nclass Guard:\n    def __del__(self): print('bye')\n"
        "def work():\n    held = Guard()\n    sys.exit(3)\nwork()\n"),
    "a weak reference that calls": Case(
        "import weakref\nclass Thing: pass\nthing = Thing()\n"
        "ref = weakref.ref(thing, lambda _: print('gone'))\nprint('end')\n"),
    "names that play tricks": Case(
        "class Trick:\n    def __dir__(self): print('dir'); return []\n"
        "    def __getattribute__(self, name): print('get', name); return object()\n"
        "trick = Trick()\nprint('end')\n"),
    "a goodbye that fails": Case(
        "class Guard:\n    def __del__(self): raise ValueError('late')\nguard = Guard()\n",
        normalise=without_addresses),
    "a goodbye that looks for globals": Case(
        "import sys\nname = 'set'\nclass Guard:\n"
        "    def __del__(self): print(name, sys.is_finalizing())\nguard = Guard()\n"),
    "a file that nobody closed": Case(
        "import os\nout = os.fdopen(os.dup(1), 'w')\nout.write('late')\nprint('first')\n"),
    "a file in a list": Case(
        "import os\nfiles = [os.fdopen(os.dup(1), 'w')]\nfiles[0].write('late')\n"),
    "stdout without a flush": Case("import sys\nsys.stdout = open(1, 'w', buffering=8192, "
                                   "closefd=False)\nprint('x')\n"),
    "stdout closed": Case("import sys\nsys.stdout.close()\n"),
    "stdout's descriptor closed": Case("import os\nprint('x', end='')\nos.close(1)\n"),
    "stdout that can't be flushed": Case(
        "import os, sys\nsys.stdout = open(1, 'w', buffering=8192, closefd=False)\nprint('x')\n"
        "os.dup2(os.open('/dev/full', os.O_WRONLY), 1)\n", normalise=without_addresses),
    "stdout None": Case("import sys\nsys.stdout = None\n"),
    "threads are waited for": Case(
        "import threading, time\ndef work():\n    time.sleep(0.2)\n    print('worked')\n"
        "threading.Thread(target=work).start()\nprint('main')\n"),
    "threads after an exception": Case(
        "import threading, time\ndef work():\n    time.sleep(0.2)\n    print('worked')\n"
        "threading.Thread(target=work).start()\nraise ValueError('main')\n"),
    "daemon threads are not": Case(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(30,), daemon=True)"
        ".start()\nprint('main')\n"),
    "a thread that starts at exit": Case(
        "import atexit, threading\natexit.register(lambda: print(threading.active_count()))\n"),
    "an executor": Case(
        "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(2)\n"
        "pool.submit(print, 'done')\n"),
    "a child that ends by itself": Case(
        "import os, sys\nif os.fork() == 0:\n    print('child')\n    sys.exit(5)\n"
        "print(os.waitstatus_to_exitcode(os.wait()[1]))\n"),
    "a child that falls through": Case(
        "import os\npid = os.fork()\nif pid:\n    print(os.wait()[1])\nprint('end', bool(pid))\n"),
    "multiprocessing": Case(
        "import multiprocessing as mp\ncontext = mp.get_context('fork')\n"
        "p = context.Process(target=print, args=('in it',))\np.start()\np.join()\n"
        "print(p.exitcode)\n"),
    "os._exit": Case("import os\nprint('lost', end='')\nos._exit(6)\n"),
    "os.exec": Case("import os\nos.execv('/bin/sh', ['sh', '-c', 'echo exec; exit 8'])\n"),
    "abort": Case("import os\nos.abort()\n"),
    "killed by a signal": Case("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"),
    "KeyboardInterrupt": Case("raise KeyboardInterrupt\n"),
    "output of the C library": Case(
        "import ctypes\nctypes.CDLL(None).printf(b'from C %d', 1)\nprint('from Python')\n"),
    "a module that is none": Case("import sys\nsys.modules['odd'] = object()\nprint('end')\n"),
    "a module without names": Case(
        "import sys, types\nmodule = types.ModuleType('m')\nmodule.__file__ = 3\n"
        "sys.modules['m'] = module\nprint('end')\n"),
    "a global with an odd name": Case("globals()[3] = 4\nprint('end')\n"),
    "an unraisable error of a generator": Case(
        "def numbers():\n    try:\n        yield 1\n    finally:\n        print('closed')\n"
        "held = numbers()\nnext(held)\n"),
    "a coroutine that was never awaited": Case(
        "async def work(): pass\nwork_to_do = work()\n", normalise=without_addresses),
    "print": Case("print(1)"),
    "empty": Case(""),
    "only a comment": Case("# nothing"),
    "both streams": Case("import sys\nprint('out')\nprint('err', file=sys.stderr)\n"),
    "output without a newline at the end": Case("import sys\nsys.stdout.write('abc')\n"),
    "bytes": Case("import sys\nsys.stdout.buffer.write(bytes(range(256)))\n"),
    "much output": Case("print('x' * 1000000)\n"),
    "args": Case("import sys\nprint(sys.argv)\n", args=[b"a", b"", b"-c", "ä b".encode(), b"\xff"]),
    "sys.path": Case("import sys\nprint(sys.path[0])\n"),
    "environment": Case(
        "import os\nprint(sorted(os.environ.items()))\nprint(os.environb[b'B'])\n",
        env=[(b"A", b"1"), (b"B", b"\xff\xfe"), ("Ü".encode(), b""), (b"HOME", b"/elsewhere")],
    ),
    "environment of children": Case(
        "import subprocess, sys\nsys.stdout.flush()\n"
        "subprocess.run(['sh', '-c', 'echo $A'], check=True)\n",
        env=[(b"A", b"from the run")],
    ),
    "TZ": Case("import time\nprint(time.localtime(0)[3], time.tzname)\n", env=[(b"TZ", b"XYZ-5")]),
    "no stdin": Case("import sys\nprint(repr(sys.stdin.read()), sys.stdin.isatty())\n"),
    "stdin": Case("import sys\nprint(repr(sys.stdin.read()))\n", stdin="zeile 1\nä\n".encode()),
    "empty stdin": Case("import sys\nprint(repr(sys.stdin.read()))\n", stdin=b""),
    "input()": Case("print(input('? '), input())\ninput()\n", stdin=b"one\ntwo\n"),
    "stdin in bytes": Case(
        "import os, sys\nprint(os.read(0, 3))\nprint(sys.stdin.buffer.read())\n", stdin=b"\0\xff\n\r"
    ),
    "large stdin": Case(
        "import sys, hashlib\nprint(hashlib.md5(sys.stdin.buffer.read()).hexdigest())\n",
        stdin=bytes(range(256)) * 3000,
    ),
    "stdin of a child": Case(
        "import subprocess\nprint(subprocess.run(['cat'], capture_output=True).stdout)\n", stdin=b"abc"
    ),
    "traceback": Case("def f(x):\n    return 1 / x\n\n\ndef g():\n    f(0)\n\n\ng()\n"),
    "traceback at the top": Case("x = 1\nx.y\n"),
    "chained exceptions": Case(
        "try:\n    1/0\nexcept Exception as e:\n    raise ValueError('b') from e\n"
    ),
    "exception while handling": Case("try:\n    1/0\nexcept Exception:\n    {}['x']\n"),
    "exception group": Case("raise ExceptionGroup('g', [ValueError(1), TypeError('t')])\n"),
    "exception with a note": Case("e = ValueError('v')\ne.add_note('a note')\nraise e\n"),
    "exception whose str() fails": Case(
        "class E(Exception):\n    def __str__(self):\n        1/0\nraise E\n"
    ),
    "exception without its traceback": Case("raise ValueError('v').with_traceback(None)\n"),
    "unicode in a traceback": Case("raise ValueError('ä€😀')  # ä€😀\n"),
    "recursion": Case("def f():\n    f()\n\n\nf()\n", normalise=without_counts),
    "misspelt name": Case("import sys\nsys.stdotu\n"),
    "syntax error": Case("print(1)\nx = = 2\n"),
    "unclosed bracket": Case("f(1, 2\nprint(3)\n"),
    "indentation": Case("if True:\nprint(1)\n"),
    "tabs and blanks": Case("if True:\n        x = 1\n\ty = 2\n"),
    "unterminated string": Case("x = 'abc\n"),
    "return outside a function": Case("return 5\n"),
    "syntax warning": Case("x = '\\d'\nprint(x, 1 is 1)\n"),
    "syntax warning and error": Case("x = '\\d'\nprint(x\n"),
    "deeply nested": Case("x = " + "(" * 300 + ")" * 300 + "\n"),
    "latin-1": Case("# -*- coding: latin-1 -*-\nprint(ascii('ä'))\n".encode("latin-1")),
    "an encoding with a decoder in Python": Case(
        "# coding: cp1252\nprint(ascii('ä€'), __name__)\n".encode("cp1252")
    ),
    "an encoding of ASCII text with a decoder in Python": Case("# coding: cp1252\nprint(1)\n"),
    "unknown encoding": Case("# coding: klingon\nprint(1)\n"),
    "byte order mark": Case(b"\xef\xbb\xbfprint(1)\n"),
    "byte order mark and another encoding": Case(b"\xef\xbb\xbf# coding: latin-1\nprint(1)\n"),
    "invalid UTF-8": Case(b"x = 1\nprint('\xff')\n"),
    "invalid UTF-8 in a comment": Case(b"x = 1\n# \xff\nprint(x)\n"),
    "NUL byte": Case(b"print(1)\0\n"),
    "NUL byte in a string": Case(b"print('a\0b')\n"),
    "CRLF": Case(b"x = '''a\r\nb'''\r\nprint(ascii(x))\r\n"),
    "CR": Case(b"print(1)\rprint(2)\r"),
    "no newline at the end": Case("if True:\n    print(1)"),
    "form feed": Case(b"\x0cprint(1)\n"),
    "large source": Case("x = 1  # " + "c" * 80 + "\n" + ("y = '" + "d" * 90 + "'\n") * 9000 + "print(x)\n"),
    "exit 3": Case("import sys\nsys.exit(3)\n"),
    "exit 0": Case("raise SystemExit(0)\n"),
    "exit None": Case("raise SystemExit\n"),
    "exit with a text": Case("import sys\nsys.exit('a reason')\n"),
    "exit with an object": Case("import sys\nsys.exit([1, 2])\n"),
    "exit -1": Case("import sys\nsys.exit(-1)\n"),
    "exit 256": Case("import sys\nsys.exit(256)\n"),
    "exit True": Case("import sys\nsys.exit(True)\n"),
    "exit() of site": Case("exit(4)\n"),
    "exit in finally": Case("import sys\ntry:\n    1/0\nfinally:\n    sys.exit(5)\n"),
    "os._exit": Case("import os\nprint('x')\nos._exit(9)\n"),
    "KeyboardInterrupt": Case("import atexit\natexit.register(print, 'bye')\nraise KeyboardInterrupt\n"),
    "derived from KeyboardInterrupt": Case(
        "class K(KeyboardInterrupt):\n    pass\nraise K('k')\n"
    ),
    "SIGINT": Case("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint('not here')\n"),
    "SIGTERM": Case("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"),
    "SIGKILL": Case("import os, signal\nprint(1)\nos.kill(os.getpid(), signal.SIGKILL)\n"),
    "abort": Case("import os\nos.abort()\n"),
    "SIGPIPE is ignored": Case("import signal\nprint(signal.getsignal(signal.SIGPIPE))\n"),
    "excepthook": Case(
        "import sys, traceback\n\n\ndef hook(kind, value, tb):\n"
        "    print('hook', kind, value, [f.lineno for f in traceback.extract_tb(tb)])\n\n\n"
        "print(sys.excepthook is sys.__excepthook__)\nsys.excepthook = hook\n1/0\n"
    ),
    "excepthook that fails": Case(
        "import sys\nsys.excepthook = lambda *a: [][0]\n1/0\n"
    ),
    "last exception": Case(
        "import atexit, sys\n"
        "atexit.register(lambda: print(sys.last_type, sys.last_traceback.tb_lineno))\n1/0\n"
    ),
    "unraisable": Case(
        "class A:\n    def __del__(self):\n        1/0\n\n\nA()\nprint('on')\n",
        normalise=without_addresses,
    ),
    "destructors at the end": Case(
        "class A:\n    def __del__(self):\n        print('gone', __name__)\n\n\na = A()\nprint('end')\n"
    ),
    "destructors after an exception": Case(
        "class A:\n    def __del__(self):\n        print('gone')\n\n\na = A()\n1/0\n"
    ),
    "atexit": Case("import atexit\natexit.register(print, 'a')\natexit.register(print, 'b')\n"),
    "atexit that fails": Case(
        "import atexit\natexit.register(lambda: 1/0)\nprint('end')\n", normalise=without_addresses
    ),
    "thread that outlives main": Case(
        "import threading, time\n\n\ndef f():\n    time.sleep(0.2)\n    print('thread')\n\n\n"
        "threading.Thread(target=f).start()\nprint('main')\n"
    ),
    "thread that fails": Case(
        "import threading\nt = threading.Thread(target=lambda: 1/0, name='T')\nt.start()\nt.join()\n"
    ),
    "daemon thread": Case(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()\n"
    ),
    "main guard": Case("if __name__ == '__main__':\n    print('main')\n"),
    "globals": Case(
        "print(list(globals()))\nprint(__name__, __doc__, __package__, __spec__, __file__, __cached__)\n"
        "print(type(__builtins__), type(__loader__).__name__, __loader__.name, __loader__.path)\n"
    ),
    "docstring": Case("'''About this.'''\nprint(__doc__)\n"),
    "annotations": Case("x: int = 1\nprint(__annotations__)\n"),
    "future": Case(
        "from __future__ import annotations\nx: undefined = 1\nprint(__annotations__)\n"
    ),
    "no future by itself": Case("x: undefined = 1\n"),
    "__main__": Case(
        "import sys, __main__\nprint(__main__.__dict__ is globals(), sys.modules['__main__'])\n"
        "print(sorted(m for m in sys.modules if 'runner' in m or 'sandboxrun' in m))\n"
    ),
    "loaded modules": Case("import sys\nprint(len(sys.modules) > 20, 'ast' in sys.modules)\n"),
    "source of a function": Case(
        "import inspect\n\n\ndef f():\n    return 1\n\n\nprint(inspect.getsource(f))\n"
        "print(inspect.getsourcefile(f), f.__code__.co_filename, (lambda: 0).__code__.co_filename)\n"
    ),
    "stack within the program": Case(
        "import traceback\n\n\ndef f():\n    traceback.print_stack(limit=2)\n\n\n\nf()\n"
    ),
    "warning": Case("import warnings\nwarnings.warn('w')\n"),
    "logging": Case(
        "import logging\nlogging.basicConfig(format='%(filename)s:%(lineno)d %(message)s')\n"
        "logging.warning('w')\n"
    ),
    "pickle": Case(
        "import pickle\n\n\nclass A:\n    pass\n\n\n"
        "print(type(pickle.loads(pickle.dumps(A()))) is A, pickle.dumps(A())[:40])\n"
    ),
    "dataclass": Case(
        "from dataclasses import dataclass\n\n\n@dataclass(order=True)\nclass A:\n    x: int\n"
        "    y: 'str' = 'y'\n\n\nprint(A(1), A(1) < A(2))\n"
    ),
    "enum and namedtuple": Case(
        "import collections, enum\nE = enum.Enum('E', 'a b')\nT = collections.namedtuple('T', 'x')\n"
        "print(E.a, E.__module__, T(1), T.__module__)\n"
    ),
    "multiprocessing by fork": Case(
        "import multiprocessing as m\n\n\ndef f(x):\n    return x * x\n\n\n"
        "if __name__ == '__main__':\n    with m.get_context('fork').Pool(2) as p:\n"
        "        print(p.map(f, range(5)))\n"
    ),
    "multiprocessing by spawn": Case(
        "import multiprocessing as m\nimport sys\n\n\ndef f(q, x):\n"
        "    q.put((x * x, sys.argv, __name__))\n\n\nif __name__ == '__main__':\n"
        "    c = m.get_context('spawn')\n    q = c.Queue()\n    p = c.Process(target=f, args=(q, 7))\n"
        "    p.start()\n    print(q.get())\n    p.join()\n    print(p.exitcode)\n",
        args=[b"arg"],
    ),
    "multiprocessing by forkserver": Case(
        "import multiprocessing as m\n\n\ndef f():\n    print('child', flush=True)\n\n\n"
        "if __name__ == '__main__':\n    p = m.get_context('forkserver').Process(target=f)\n"
        "    p.start()\n    p.join()\n    print(p.exitcode)\n"
    ),
    "process pool": Case(
        "from concurrent.futures import ProcessPoolExecutor\n\n\ndef f(x):\n    return x + 1\n\n\n"
        "if __name__ == '__main__':\n    with ProcessPoolExecutor(2) as e:\n"
        "        print(list(e.map(f, range(3))))\n"
    ),
    "fork": Case(
        "import os\npid = os.fork()\nif pid == 0:\n    raise SystemExit(3)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    ),
    "asyncio": Case(
        "import asyncio\n\n\nasync def f():\n    await asyncio.sleep(0.01)\n    1/0\n\n\nasyncio.run(f())\n"
    ),
    "module beside the program": Case(
        "open('beside.py', 'w').write('x = 5')\nimport beside\nprint(beside.x, beside.__file__)\n"
    ),
    "imports itself": Case("import main\nprint(__name__, main.__name__)\n"),
    "reads its own file": Case("print(open(__file__).read())\n"),
    "exec and eval": Case("exec('print(__name__)')\nprint(eval('1 + 1'))\nexec('1/0')\n"),
    "trace function": Case(
        "import sys\nprint(sys.gettrace(), sys.getprofile())\nlines = []\n\n\n"
        "def trace(frame, event, arg):\n    lines.append((event, frame.f_lineno))\n    return trace\n\n\n"
        "def f():\n    x = 1\n    return x\n\n\nsys.settrace(trace)\nf()\nsys.settrace(None)\nprint(lines)\n"
    ),
    "no exception in flight": Case("import sys\nprint(sys.exc_info())\nraise\n"),
    "open descriptors": Case("import os\nprint(sorted(os.listdir('/proc/self/fd')))\n"),
    "stdout closed by the program": Case("import sys\nprint('x')\nsys.stdout.close()\n"),
    "unbuffered": Case("import os\nprint('a', end='')\nos.write(1, b'b')\nprint('c')\n"),
    "bytecode is not written": Case("import sys\nprint(sys.dont_write_bytecode)\n"),
    "doctest": Case("'''\n>>> 1 + 1\n3\n'''\nimport doctest\nprint(doctest.testmod())\n"),
    "unittest": Case(
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n"
        "        self.assertEqual(1, 2)\n\n\nif __name__ == '__main__':\n    unittest.main()\n",
        normalise=lambda text: re.sub(rb"in [0-9.]+s", b"in Ns", text),
    ),
}


def prefixes():
    whole = request(b"print(1)\n", [b"arg"], [(b"N", b"v")], b"in")
    return {f"cut after {n} bytes": whole[:n] for n in range(len(whole))}


MALFORMED = {
    "other magic": request(b"print(1)", magic=b"SBRX"),
    "version 0": request(b"print(1)", version=0),
    "version 2": request(b"print(1)", version=2),
    "unknown flag": request(b"print(1)", flags=2),
    "stdin without its flag": request(b"print(1)", stdin=b"x", flags=0),
    "a byte too much": request(b"print(1)") + b"\0",
    "two requests": request(b"print(1)") * 2,
    "NUL byte in an argument": request(b"print(1)", args=[b"a\0b"]),
    "NUL byte in a value": request(b"print(1)", env=[(b"A", b"\0")]),
    "variable without a name": request(b"print(1)", env=[(b"", b"x")]),
    "= in a name": request(b"print(1)", env=[(b"A=B", b"x")]),
    "code longer than the request": b"SBRQ" + b"".join(map(u32, (1, 0, 0, 0, 2**32 - 1, 0))) + b"pass",
    "four billion arguments": b"SBRQ" + b"".join(map(u32, (1, 0, 2**32 - 1, 0, 4, 0))) + b"pass",
    "longer than two MiB": request(b"#" * (2 * 1024 * 1024)),
    **prefixes(),
}


class RunnerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="sandboxrun-runner-")
        cls.addClassCleanup(shutil.rmtree, cls.directory)
        cls.home = os.path.join(os.path.realpath(cls.directory), "home")
        cls.runner = os.path.join(cls.directory, "runner.pyc")
        subprocess.run(
            [PYTHON, "-I", "-c", "import py_compile, sys; py_compile.compile(*sys.argv[1:], doraise=True)",
             RUNNER, cls.runner],
            check=True,
        )

    def setUp(self):
        shutil.rmtree(self.home, ignore_errors=True)
        os.mkdir(self.home)

    def environment(self):
        return {
            b"PATH": b"/usr/bin:/bin",
            b"HOME": os.fsencode(self.home),
            b"LANG": b"C.UTF-8",
            b"TMPDIR": b"/tmp",
        }

    def run_plain(self, case):
        with open(os.path.join(self.home, "main.py"), "wb") as file:
            file.write(case.code)
        # Not -I, which takes the program's directory out of sys.path.
        argv = [PYTHON, "-E", "-s", "-u", "-B", os.path.join(self.home, "main.py"), *case.args]
        with tempfile.TemporaryFile() as stdin:
            stdin.write(case.stdin or b"")
            stdin.seek(0)
            done = subprocess.run(
                argv,
                cwd=self.home,
                env={**self.environment(), **dict(case.env)},
                stdin=subprocess.DEVNULL if case.stdin is None else stdin,
                capture_output=True,
                timeout=TIMEOUT_SECONDS,
            )
        return done.returncode, done.stdout, done.stderr

    def run_runner(self, message, pass_channel=True, waits=False):
        with tempfile.TemporaryFile() as channel:
            channel.write(message)
            channel.seek(0)
            child = [PYTHON, "-I", "-u", "-B", self.runner, *["waits"] * waits]
            if pass_channel:
                # The shell moves the channel to where the runner expects it, and says where it is.
                child = ["/bin/sh", "-c",
                         f'unset PWD; exec "$@" 3<&{channel.fileno()} {channel.fileno()}<&-',
                         "sh", *child]
                if channel.fileno() == 3:
                    child = child[4:]
            done = subprocess.run(
                child,
                cwd=self.home,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                pass_fds=[channel.fileno()] if pass_channel else [],
                timeout=TIMEOUT_SECONDS,
            )
        if waits:
            self.assertEqual(done.stdout[:1], b"\n")
        return done.returncode, done.stdout[waits:], done.stderr

    def assert_refused(self, result, contains):
        code, stdout, stderr = result
        self.assertEqual((code, stdout), (EXIT_REFUSED, b""), stderr)
        self.assertRegex(stderr, rb"^sandboxrun: not started: [^\n]*\n$")
        self.assertIn(contains, stderr)

    def test_same_as_python(self):
        for name, case in CASES.items():
            with self.subTest(name):
                self.setUp()
                expected = self.run_plain(case)
                if case.normalise:
                    expected = (expected[0], *map(case.normalise, expected[1:]))
                for waits in STARTS:
                    self.setUp()
                    result = self.run_runner(request(case.code, case.args, case.env, case.stdin),
                                             waits=waits)
                    if case.normalise:
                        result = (result[0], *map(case.normalise, result[1:]))
                    self.assertEqual(result, expected, f"waits: {waits}")

    def test_malformed_requests(self):
        for name, message in MALFORMED.items():
            with self.subTest(name):
                self.setUp()
                self.assert_refused(self.run_runner(message), b"the request is malformed")
                self.assertEqual(os.listdir(self.home), [])

    def test_no_channel(self):
        self.assert_refused(self.run_runner(b"", pass_channel=False), b"can't be taken in")

    def test_home_that_takes_no_file(self):
        os.mkdir(os.path.join(self.home, "main.py"))
        self.assert_refused(self.run_runner(request(b"print(1)")), b"can't be taken in")

    def test_largest_request(self):
        message = request(b"", stdin=b"")
        code = b"import os\nprint(len(os.read(0, 9999999)))\n"
        message = request(code, stdin=b"x" * (2 * 1024 * 1024 - len(message) - len(code)))
        self.assertEqual(len(message), 2 * 1024 * 1024)
        result = self.run_runner(message)
        self.assertEqual(result, (0, b"2097082\n", b""))

    def test_no_import_of_its_own(self):
        """A run pays only for what a bare interpreter has loaded anyway."""
        listing = b"import sys\nprint(*sorted(sys.modules))\n"
        bare = self.run_plain(Case(listing))[1].split()
        self.assertEqual(self.run_runner(request(listing))[1].split(), bare)


if __name__ == "__main__":
    unittest.main()
