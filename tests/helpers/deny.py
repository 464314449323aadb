# SPDX-License-Identifier: Apache-2.0
"""Runs a program for which one system call fails with EPERM, to see what it makes of that.

    deny.py NAME[:ARGUMENT=VALUE[/MASK]]...[!ERRNO] -- PROGRAM [ARGUMENT...]

A rule with conditions holds if all of them do: ARGUMENT is 0 to 5, VALUE and MASK are compared
with the lower 32 bits; with ~ in place of = they must differ. ERRNO is a number in place of EPERM;
with 0 the call seems to succeed and does nothing. Needs CAP_SYS_ADMIN, and so leaves no_new_privs
as it is. What can't be told from the numbers alone is for deny_asked.py.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

# Newer calls have the same number everywhere.
EVERYWHERE = {
    "clone3": 435, "close_range": 436, "faccessat2": 439, "landlock_add_rule": 445,
    "landlock_create_ruleset": 444, "landlock_restrict_self": 446, "mount_setattr": 442,
    "move_mount": 429, "open_tree": 428, "openat2": 437, "pidfd_open": 434,
    "pidfd_send_signal": 424,
}  # fmt: skip
# By machine: the number of the architecture for AUDIT_ARCH, and of the system calls.
MACHINES = {
    "x86_64": (0xC000003E, {
        "capset": 126, "clone": 56, "eventfd2": 290, "execve": 59, "execveat": 322,
        "ioctl": 16, "mkdirat": 258, "mount": 165, "openat": 257, "pipe2": 293, "prctl": 157,
        "prlimit64": 302, "seccomp": 317, "sendmsg": 46,
        "setdomainname": 171, "setgroups": 116, "sethostname": 170, "setns": 308,
        "setresgid": 119, "setresuid": 117, "setsid": 112, "signalfd4": 289, "unshare": 272,
        "write": 1}),
    "aarch64": (0xC00000B7, {
        "capset": 91, "clone": 220, "eventfd2": 19, "execve": 221, "execveat": 281,
        "ioctl": 29, "mkdirat": 34, "mount": 40, "openat": 56, "pipe2": 59, "prctl": 167,
        "prlimit64": 261, "seccomp": 277, "sendmsg": 211,
        "setdomainname": 162, "setgroups": 159, "sethostname": 161, "setns": 268,
        "setresgid": 149, "setresuid": 147, "setsid": 157, "signalfd4": 74, "unshare": 97,
        "write": 64}),
}  # fmt: skip

LOAD, JUMP_IF_EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06
AT_NUMBER, AT_ARCHITECTURE, AT_ARGUMENTS = 0, 4, 16
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
SECCOMP_SET_MODE_FILTER = 1


def parse_condition(text):
    """(argument, whether it must be equal, value, mask) of a condition in text form."""
    equal = "=" in text
    argument, _, value = text.partition("=" if equal else "~")
    value, _, mask = value.partition("/")
    return int(argument), equal, int(value, 0), int(mask or "0xffffffff", 0)


def parse(rule):
    """(name, conditions, errno) of a rule in text form."""
    rule, _, number = rule.partition("!")
    name, *conditions = rule.split(":")
    return name, [parse_condition(text) for text in conditions], int(number or errno.EPERM)


def compile_rule(number, conditions, action):
    """Instructions that end in the action, or fall through to what follows."""
    checks = [([(LOAD, 0, 0, AT_NUMBER)], True, number), *(
        ([(LOAD, 0, 0, AT_ARGUMENTS + 8 * argument), (AND, 0, 0, mask)], equal, value)
        for argument, equal, value, mask in conditions)]
    length = sum(len(loading) + 1 for loading, _, _ in checks) + 1
    code = []
    for loading, equal, value in checks:
        code += loading
        beyond = length - len(code) - 1
        code.append((JUMP_IF_EQUAL, *((0, beyond) if equal else (beyond, 0)), value))
    return [*code, (RETURN, 0, 0, action)]


def compile_rules(rules, action=None):
    """The filter of rules in text form: each refuses its call, or all end in one other action."""
    architecture, numbers = MACHINES[platform.machine()]
    code = [(LOAD, 0, 0, AT_ARCHITECTURE), (JUMP_IF_EQUAL, 1, 0, architecture),
            (RETURN, 0, 0, ALLOW)]  # fmt: skip
    for rule in rules:
        name, conditions, answer = parse(rule)
        code += compile_rule({**EVERYWHERE, **numbers}[name], conditions,
                             action or REFUSE | answer)  # fmt: skip
    code.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in code)


def install(code, flags=0):
    """Sets the filter for this process; what seccomp(2) returns."""
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(code) // 8, ctypes.addressof(buffer))
    number = MACHINES[platform.machine()][1]["seccomp"]
    result = libc.syscall(number, SECCOMP_SET_MODE_FILTER, flags, program)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), "seccomp")
    return result


def denying(*rules):
    """The words before a program's own that run it so."""
    return (sys.executable, os.path.abspath(__file__), *rules, "--")


def main():
    end = sys.argv.index("--")
    install(compile_rules(sys.argv[1:end]))
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])


if __name__ == "__main__":
    main()
