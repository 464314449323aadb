# SPDX-License-Identifier: Apache-2.0
"""What attempts reach the kernel by, and say their outcome with. Inside the jail it is there as the
module `attempt`; corpus.py puts it before each program.

An attempt ends by one of

    refused(how)     the jail held; `how` is the error's name, or a word that `# expect:` knows
    through(what)    it did not; `what` says what was reached

and gets there by looking at what it has really got. An exception or a silent end is neither, and a
failure of the test.

Each attempt pays for what is imported here: only what most of them need.
"""

import ctypes
import errno
import mmap
import os
import struct
import time

# By name: the number of the system call on x86-64 and on arm64; None where it doesn't exist.
NUMBERS = {
    "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171), "bpf": (321, 280),
    "cachestat": (451, 451), "capset": (126, 91), "chown": (92, None), "chroot": (161, 51),
    "clock_adjtime": (305, 266), "clock_settime": (227, 112), "clone": (56, 220),
    "clone3": (435, 435), "create_module": (174, None), "delete_module": (176, 106),
    "execve": (59, 221), "execveat": (322, 281), "exit": (60, 93), "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263), "fcntl": (72, 25), "fchownat": (260, 54), "fgetxattr": (193, 10),
    "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "futex": (202, 98), "get_mempolicy": (239, 236),
    "get_robust_list": (274, 100), "getpid": (39, 172), "init_module": (175, 105),
    "inotify_add_watch": (254, 27), "inotify_init1": (294, 26), "io_setup": (206, 0),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425),
    "ioctl": (16, 29), "ioperm": (173, None), "iopl": (172, None), "ioprio_set": (251, 30),
    "kcmp": (312, 272), "kexec_file_load": (320, 294), "kexec_load": (246, 104),
    "keyctl": (250, 219), "kill": (62, 129), "landlock_create_ruleset": (444, 444),
    "linkat": (265, 37), "listmount": (458, 458), "lookup_dcookie": (212, 18),
    "lsm_set_self_attr": (460, 460), "madvise": (28, 233), "map_shadow_stack": (453, 453),
    "mbind": (237, 235), "membarrier": (324, 283), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "migrate_pages": (256, 238), "mincore": (27, 232),
    "mknodat": (259, 33), "mlock": (149, 228), "mmap": (9, 222), "modify_ldt": (154, None),
    "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429),
    "move_pages": (279, 239), "mq_notify": (244, 184), "mq_open": (240, 180),
    "msgget": (68, 186), "msync": (26, 227),
    "name_to_handle_at": (303, 264), "open": (2, None), "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467), "openat": (257, 56), "openat2": (437, 437),
    "perf_event_open": (298, 241), "personality": (135, 92), "pidfd_getfd": (438, 438),
    "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424), "pivot_root": (155, 41),
    "pkey_alloc": (330, 289), "preadv2": (327, 286), "prctl": (157, 167), "prlimit64": (302, 261),
    "process_madvise": (440, 440), "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "ptrace": (101, 117),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "readahead": (187, 213), "reboot": (169, 142),
    "remap_file_pages": (216, 234), "renameat2": (316, 276), "request_key": (249, 218),
    "rt_sigprocmask": (14, 135), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "sched_setaffinity": (203, 122), "sched_setattr": (314, 274), "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119), "seccomp": (317, 277), "semget": (64, 190),
    "sendto": (44, 206), "setdomainname": (171, 162), "setfsgid": (123, 152),
    "setfsuid": (122, 151), "setgid": (106, 144), "setgroups": (116, 159),
    "sethostname": (170, 161), "setns": (308, 268), "setpriority": (141, 140),
    "setregid": (114, 143), "setresgid": (119, 149), "setresuid": (117, 147),
    "setreuid": (113, 145), "setrlimit": (160, 164), "setsockopt": (54, 208),
    "settimeofday": (164, 170), "setuid": (105, 146), "setxattr": (188, 5), "shmget": (29, 194),
    "signalfd4": (289, 74), "socket": (41, 198), "socketpair": (53, 199), "splice": (275, 76),
    "statmount": (457, 457), "swapoff": (168, 225), "swapon": (167, 224), "sync": (162, 81),
    "sync_file_range": (277, 84), "syncfs": (306, 267), "sysfs": (139, None),
    "syslog": (103, 116), "tee": (276, 77),
    "tgkill": (234, 131), "timer_create": (222, 107), "timerfd_create": (283, 85),
    "tkill": (200, 130), "umount2": (166, 39), "unshare": (272, 97), "uselib": (134, None),
    "userfaultfd": (323, 282), "ustat": (136, None), "vhangup": (153, 58),
    "vmsplice": (278, 75),
}  # fmt: skip

CLONE_PARENT, CLONE_NEWNS = 0x8000, 0x20000
CLONE_NEWTIME, CLONE_NEWCGROUP, CLONE_NEWUTS = 0x80, 0x2000000, 0x4000000
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID = 0x8000000, 0x10000000, 0x20000000
CLONE_NEWNET = 0x40000000
AT_FDCWD, AT_EMPTY_PATH = -100, 0x1000
MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC, MS_SHARED = 32, 4096, 8192, 16384, 1 << 20
MNT_DETACH = 2
REAPER = 1

# Every text that nobody inside may see contains this. It isn't written out, or the program that
# looks for it would find itself.
SECRET = b"-".join([b"sandboxrun", b"canary", b""])

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _end(text):
    os.write(1, (text + "\n").encode())
    os._exit(0)


def refused(how):
    _end(f"REFUSED {how}")


def through(what):
    _end(f"THROUGH {what}")


def name_of(error):
    return errno.errorcode.get(error.errno, f"errno {error.errno}")


class trying:
    """A block that ends without an OSError has reached what it tried."""

    def __init__(self, what):
        self.what = what

    def __enter__(self):
        return self

    def __exit__(self, _, error, __):
        if error is None:
            through(self.what)
        if isinstance(error, OSError):
            refused(name_of(error))


def each(tries):
    """Tries all of {what: function}: each must raise an OSError."""
    met = set()
    for what, function in tries.items():
        try:
            function()
        except OSError as error:
            met.add(name_of(error))
        else:
            through(what)
    refused(", ".join(sorted(met)))


def reading(*paths):
    """Opens and reads the first bytes of each of the paths, none of which may give any."""
    def read(path):
        with open(path, "rb", buffering=0) as file:
            if not file.read(64):
                raise OSError(errno.ENODATA, "empty")
    each({f"read {path}": lambda path=path: read(path) for path in paths})


def writing(path, data=b"0"):
    """Opens a file of the kernel for writing, and writes."""
    with trying(f"wrote {path}"):
        fd = os.open(path, os.O_WRONLY)
        os.write(fd, data)


def _argument(value):
    if value is None:
        return ctypes.c_void_p(0)
    if isinstance(value, int):
        return ctypes.c_long(ctypes.c_long(value & 0xFFFFFFFFFFFFFFFF).value)
    if isinstance(value, str):
        return ctypes.c_char_p(value.encode())
    if isinstance(value, bytes):
        return ctypes.c_char_p(value)
    return value


def number(call):
    if isinstance(call, int):
        return call
    found = NUMBERS[call][0 if os.uname().machine == "x86_64" else 1]
    if found is None:
        raise OSError(errno.ENOSYS, f"{call} isn't a system call of this machine")
    return found


def syscall(call, *arguments):
    """A system call by name or number; raises OSError."""
    ctypes.set_errno(0)
    result = _libc.syscall(ctypes.c_long(number(call)), *map(_argument, arguments))
    if result == -1 and ctypes.get_errno():
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(call))
    return result


def prctl(*arguments):
    padded = (arguments + (0, 0, 0, 0, 0))[:5]
    return syscall("prctl", *padded)


def machine_code(code):
    """x86-64 instructions as a function without arguments that returns what is in rax."""
    page = mmap.mmap(-1, max(len(code), 1), prot=7)
    page.write(code)
    address = ctypes.addressof(ctypes.c_char.from_buffer(page))
    function = ctypes.CFUNCTYPE(ctypes.c_long)(address)
    function.page = page
    return function


def ended(function):
    """What becomes of a child that calls the function: SIGNAL's name, the name of an error, or
    `returned`."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        word = "returned"
        try:
            function()
        except OSError as error:
            word = name_of(error)
        os.write(write_end, word.encode())
        os._exit(0)
    os.close(write_end)
    status = os.waitpid(child, 0)[1]
    word = os.read(read_end, 64).decode()
    os.close(read_end)
    if os.WIFSIGNALED(status):
        import signal
        return signal.Signals(os.WTERMSIG(status)).name
    return word or "silent"


def dies(function, what):
    """The function must end its process, or raise an OSError."""
    word = ended(function)
    if word in ("returned", "silent"):
        through(what)
    refused(word)


def signalled(pid, numbers, send):
    """Sends signals to process 1, which must go on doing its work: it adopts an orphan and reaps
    it, and is there to report what is said here."""
    met = set()
    for number in numbers:
        try:
            send(pid, number)
            met.add("no effect")
        except OSError as error:
            met.add(name_of(error))
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        orphan = os.fork()
        if orphan == 0:
            time.sleep(0.05)
            os._exit(0)
        os.write(write_end, struct.pack("i", orphan))
        os._exit(0)
    os.waitpid(child, 0)
    orphan = struct.unpack("i", os.read(read_end, 4))[0]
    end = time.monotonic() + 5
    while os.path.exists(f"/proc/{orphan}"):
        if time.monotonic() > end:
            through("process 1 no longer reaps")
        time.sleep(0.01)
    refused(", ".join(sorted(met)))


def canary(name):
    """What the test has set up outside: a path, an address, a pid, ..."""
    return os.environ["CANARY_" + name]


def own_status(field, pid="self"):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith(field + ":"):
                return line.split(":", 1)[1].strip()
    raise KeyError(field)
