# SPDX-License-Identifier: Apache-2.0
"""Fails if a zygote's module needs a library, or a symbol that an interpreter of any runtime may lack.

    check_zygote_module.py READELF NM MODULE

Its children run the same code between clone and the first byte of Python as others between clone
and exec: see check_child_symbols.py, which knows what of the C library that may be.
"""

import re
import subprocess
import sys

# https://docs.python.org/3/c-api/stable.html
STABLE_ABI = """
    PyBool_FromLong PyErr_Occurred PyErr_SetFromErrno PyExc_OSError PyLong_AsLong PyModuleDef_Init
    PyOS_AfterFork_Child PyOS_AfterFork_Parent PyOS_BeforeFork _Py_NoneStruct
""".split()

# fork() of the C library: it sets right what a copy of an interpreter has wrong of itself.
C_LIBRARY = """
    __errno_location __stack_chk_fail __stack_chk_guard _exit chdir clone close close_range dup3
    fcntl fork getgroups getpid getresgid getresuid memcpy memmove memset mount open openat ppoll
    prctl prlimit read recvmsg sendmsg setdomainname sethostname setns setsid sigaction sigaddset
    sigemptyset signalfd sigprocmask snprintf strlen strnlen syscall umask unlink unshare vsnprintf
    waitpid write
""".split()

# Weak: without them it does without.
WHERE_THERE_ARE = {"__rseq_offset", "__rseq_size"}


def plain(symbol):
    """memcpy for __memcpy_chk, open for open64 and __open64_2."""
    symbol = re.sub(r"^__(\w+)_chk$", r"\1", symbol.partition("@")[0])
    symbol = re.sub(r"^__(\w+?)_2$", r"\1", symbol)
    return re.sub(r"64$", "", symbol)


def output(*argv):
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


def main():
    readelf, nm, module = sys.argv[1:]
    libraries = re.findall(r"\(NEEDED\).*", output(readelf, "-d", module))
    if libraries:
        sys.exit(f"it needs libraries: {libraries}")
    lines = [line.split() for line in output(nm, "-D", "--undefined-only", module).splitlines()]
    needed = {name for kind, name in lines if (kind not in "vw" or name not in WHERE_THERE_ARE)}
    if "PyOS_BeforeFork" not in needed:
        sys.exit("this is no zygote's module")
    wrong = sorted(symbol for symbol in needed
                   if symbol not in STABLE_ABI and plain(symbol) not in C_LIBRARY)
    if wrong:
        sys.exit("not to be had everywhere: " + " ".join(wrong))
    offered = {line.split()[-1] for line in output(nm, "-D", "--defined-only", module).splitlines()}
    if offered != {"PyInit_sandboxrun_zygote"}:
        sys.exit(f"it offers {sorted(offered)}")
    print(f"{len(needed)} symbols: all are to be had")


main()
