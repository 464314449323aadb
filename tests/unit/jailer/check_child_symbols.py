# SPDX-License-Identifier: Apache-2.0
"""Fails if the objects that run between clone and exec need anything but system calls and plain
functions on memory: a lock, an allocation or stdio there could hang or corrupt the child.

    check_child_symbols.py NM OBJECT...
"""

import re
import subprocess
import sys

# Thin wrappers of system calls in the C library.
SYSTEM_CALLS = """
    _exit chdir clone close close_range dup3 execve fcntl getgroups getresgid getresuid mount open
    ppoll prctl prlimit read recvmsg sendmsg setdomainname sethostname setns setsid signalfd
    sigprocmask syscall umask unlink unshare waitpid write
""".split()

# Functions on the caller's own memory. vsnprintf behind the last ones writes into a buffer of the
# caller and, for the conversions used, does nothing else.
MEMORY = """
    __errno_location memcpy memmove memset sigaddset sigemptyset snprintf strlen error_set
""".split()

# Of common: open, read or write, close.
DESCRIPTORS = ["fd_write_attr"]

ALLOWED = {*SYSTEM_CALLS, *MEMORY, *DESCRIPTORS}

# What the compiler adds for hardening, sanitizers and coverage.
INSTRUMENTED = re.compile(r"__(asan|ubsan|gcov|sanitizer|stack_chk|llvm)_|_GLOBAL_OFFSET_TABLE_")


def symbols(nm, objects):
    needed, defined = set(), set()
    listing = subprocess.run([nm, "-g", *objects], check=True, capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        fields = line.split()
        if len(fields) == 2 and fields[0] == "U":
            needed.add(fields[1])
        elif len(fields) == 3:
            defined.add(fields[2])
    return needed - defined


def plain(symbol):
    """memcpy for __memcpy_chk, open for open64 and __open64_2."""
    symbol = re.sub(r"^__(\w+)_chk$", r"\1", symbol)
    symbol = re.sub(r"^__(\w+?)_2$", r"\1", symbol)
    return re.sub(r"64$", "", symbol)


def main():
    nm, *objects = sys.argv[1:]
    needed = symbols(nm, objects)
    if len(objects) < 5 or "execve" not in needed:
        sys.exit("these are not the objects of the child")
    wrong = sorted(symbol for symbol in needed
                   if plain(symbol) not in ALLOWED and not INSTRUMENTED.search(symbol)
                   and not symbol.startswith("seccomp_policy_"))  # fmt: skip
    if wrong:
        sys.exit("not for use between clone and exec: " + " ".join(wrong))
    print(f"{len(objects)} objects, {len(needed)} symbols: all may be used")


main()
