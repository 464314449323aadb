# SPDX-License-Identifier: Apache-2.0
"""The first and only code of ours inside the jail's interpreter.

Started as `python3 -I -u -B runner.pyc [waits]`, with the program's home as the working directory,
descriptor 0 on /dev/null, 1 and 2 on the output pipes and 3 on the request channel, every lock in
force. It reads one request to the end of the channel, closes the channel, lays the program out as
`main.py` in its home and runs it as `__main__`, as `python3 main.py` would. The format of the
request is described in README.md beside this file. With `waits` it says by one byte on descriptor 1
that it is there, and the request may be a long time coming.

A request that can't be read, or a program that can't be laid out, is said on stderr and ends the
process with status 70 (EX_SOFTWARE) before a byte of the program has run.

Every run pays for what happens here before its program starts. So nothing is imported that a bare
interpreter hasn't loaded already but atexit, which is built in, and compile() is kept for the rare
case that needs it; and one that waits for its request does before it what it can (rehearse()).
What comes behind the program's end is paid for too, and left out where nobody could tell (leave()).
"""

# Taken before anything else is defined: what the interpreter gives to every `__main__`.
GIVEN = dict(globals())

import _imp
import os
import stat
import sys

REQUEST_FD = 3
REQUEST_MAX_BYTES = 2 * 1024 * 1024
REQUEST_MAGIC = b"SBRQ"
REQUEST_VERSION = 1
FLAG_HAS_STDIN = 1
CHUNK_BYTES = 64 * 1024
EXIT_REFUSED = 70
WAITS = "waits"
HELLO = b"\n"
ZYGOTE_MODULE = "/tmp/sandboxrun_zygote.so"


def read_channel():
    """All bytes of the channel, which is closed behind them."""
    parts = []
    size = 0
    while part := os.read(REQUEST_FD, CHUNK_BYTES):
        parts.append(part)
        size += len(part)
        if size > REQUEST_MAX_BYTES:
            raise ValueError(f"it is longer than {REQUEST_MAX_BYTES} bytes")
    os.close(REQUEST_FD)
    return b"".join(parts)


def parse(data):
    """(code, stdin or None, args, env) of a request, all in bytes."""
    at = 0

    def take(size, what):
        nonlocal at
        part = data[at : at + size]
        if len(part) != size:
            raise ValueError(f"it ends within {what}")
        at += size
        return part

    def number(what):
        return int.from_bytes(take(4, what), "little")

    def string(what):
        value = take(number(what), what)
        if b"\0" in value:  # C would take it for the end of the string
            raise ValueError(f"a NUL byte in {what}")
        return value

    if take(4, "the magic number") != REQUEST_MAGIC:
        raise ValueError("wrong magic number")
    version = number("the version")
    if version != REQUEST_VERSION:
        raise ValueError(f"it has version {version}, and this runner reads {REQUEST_VERSION}")
    flags = number("the flags")
    if flags & ~FLAG_HAS_STDIN:
        raise ValueError(f"unknown flags {flags:#x}")
    n_args = number("the number of arguments")
    n_env = number("the number of variables")
    code_len = number("the length of the code")
    stdin_len = number("the length of stdin")
    if stdin_len and not flags & FLAG_HAS_STDIN:
        raise ValueError("stdin without its flag")
    code = take(code_len, "the code")
    stdin = take(stdin_len, "stdin") if flags & FLAG_HAS_STDIN else None
    args = [string("an argument") for _ in range(n_args)]
    env = [(string("a variable's name"), string("a variable's value")) for _ in range(n_env)]
    for name, _ in env:
        if not name or b"=" in name:
            raise ValueError(f"{name!r} can't be the name of a variable")
    if at != len(data):
        raise ValueError(f"{len(data) - at} bytes follow its end")
    return code, stdin, args, env


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def replace_stdin(data):
    """Descriptor 0 becomes a file without a name that holds exactly these bytes."""
    fd = os.open("/tmp", os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    write_all(fd, data)
    os.lseek(fd, 0, os.SEEK_SET)
    os.dup2(fd, 0)
    os.close(fd)


def extend_environment(env):
    for name, value in env:
        os.environb[name] = value
        if name == b"TZ":  # the C library has read it when the interpreter started
            import time

            time.tzset()


def lay_out(path, code):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    write_all(fd, code)
    os.close(fd)


def compile_by_exec(path, code):
    """What compile() returns, at a tenth of its price: its first call builds all types of the
    `ast` module, 0.9 ms of an interpreter's 10. exec() compiles without them, and a profile
    function is handed the code object before its first instruction, which never comes to run. (It
    sees the decoder of the source's encoding too, and lets that pass.)"""
    compiled = None
    namespace = {}

    def profile(frame, event, arg):
        nonlocal compiled
        if frame.f_globals is namespace:
            compiled = frame.f_code
            raise InterruptedError  # which compiling raises in no case

    sys.setprofile(profile)
    try:
        exec(code, namespace)
    except InterruptedError:
        pass
    finally:
        sys.setprofile(None)
    _imp._fix_co_filename(compiled, path)
    return compiled


class Kept(list):
    """Takes what is written to it."""

    write = list.append


def compile_or_hand_over(path, code):
    """The program's code object. Source that isn't UTF-8 or doesn't compile goes to a plain
    interpreter, which runs or reports it exactly as a user knows it: encoding, NUL bytes and all.
    Warnings of a compilation that fails are dropped, since that interpreter gives them again."""
    stderr = sys.stderr
    sys.stderr = warnings = Kept()
    try:
        code.decode()
        if not HAS_REHEARSED:
            compiled = compile_by_exec(path, code)
        if HAS_REHEARSED or warnings:  # which of exec() name no file and no line
            warnings.clear()
            globals().pop("__warningregistry__", None)  # by which Python 3.13 gives them once
            compiled = compile(code, path, "exec", dont_inherit=True)
    except BaseException:
        os.execv(sys.executable, [sys.executable, "-I", "-u", "-B", *sys.argv])
    finally:
        sys.stderr = stderr
    if warnings:
        stderr.write("".join(warnings))
    return compiled


# Whether compile() was called already, and its price paid.
HAS_REHEARSED = False


def rehearse():
    """Does what a request asks for once, for a program that does nothing, while nobody waits for
    it: the pages and the types that this takes for the first time are there then. Nothing else of
    it is left."""
    global HAS_REHEARSED
    HAS_REHEARSED = True
    head = (REQUEST_VERSION, 0, 1, 0, 0, 0)
    code, _, args, env = parse(
        b"".join([REQUEST_MAGIC, *(n.to_bytes(4, "little") for n in head), b"\1\0\0\0", b"a"])
    )
    extend_environment(env)
    lay_out(os.devnull, code)
    namespace = {}
    exec(compile_or_hand_over(os.fsdecode(args[0]), code), namespace)
    are_silent(namespace.values())
    has_foreign_code()
    flush_streams()


def import_modules(names):
    """What is told and there. What imports them later finds them; nothing of ours holds them."""
    for name in filter(None, names):
        try:
            __import__(name)
        except ImportError:
            pass


def load_zygote():
    """The jailer's own code, which is in no other mount namespace than this process's. It is no
    module that a program could import."""
    name = ZYGOTE_MODULE.rpartition("/")[2].partition(".")[0]
    spec = sys.modules["_frozen_importlib"].ModuleSpec(name, None, origin=ZYGOTE_MODULE)
    return _imp.create_dynamic(spec)


def become_different():
    """What children of one zygote would draw alike. `random` sees to itself. OpenSSL tells a fork
    by the pid, and all children have the same in pid namespaces of their own."""
    if openssl := sys.modules.get("_ssl"):
        openssl.RAND_add(os.urandom(32), 32.0)
    if numpy_random := sys.modules.get("numpy.random"):
        numpy_random.seed()


def be_forked():
    """Goes on in each child, as one that has started by itself."""
    given = set(sys.modules)
    import_modules(os.read(REQUEST_FD, CHUNK_BYTES).rstrip(b"\0").decode().split(","))
    zygote = load_zygote()
    import gc

    if "gc" not in given:
        del sys.modules["gc"]
    gc.collect()
    os.write(REQUEST_FD, HELLO)
    waits = zygote.serve(REQUEST_FD)
    become_different()
    if waits:  # once more, for the pages that it writes to are copied now
        rehearse()


def make_main(path):
    """The namespace of a new `__main__` that is the module of that file, as `python3 path` has it."""
    main = type(sys)("__main__")
    namespace = main.__dict__
    namespace.update(GIVEN)
    namespace["__doc__"] = None
    namespace["__file__"] = path
    namespace["__loader__"] = sys.modules["_frozen_importlib_external"].SourceFileLoader(
        "__main__", path
    )
    sys.modules["__main__"] = main
    return namespace


def prepare():
    """(code object, namespace of `__main__`) of the program."""
    waits = WAITS in sys.argv[1:]
    if waits:
        del sys.argv[1:], sys.orig_argv[-1:]
        rehearse()
    home = os.getcwd()
    path = home + "/main.py"
    sys.path.insert(0, home)
    namespace = make_main(path)
    if waits:
        if stat.S_ISSOCK(os.fstat(REQUEST_FD).st_mode):
            be_forked()
        os.write(1, HELLO)

    code, stdin, args, env = parse(read_channel())
    lay_out(path, code)
    if stdin is not None:
        replace_stdin(stdin)
    extend_environment(env)
    sys.argv[:] = [path, *map(os.fsdecode, args)]
    sys.orig_argv[-1:] = sys.argv
    return compile_or_hand_over(path, code), namespace


def status_of(error):
    """What the interpreter will exit with, or None where that is for it alone to find out, or where
    what it prints keeps the values of functions that were under way."""
    if type(error) is not SystemExit:
        return None
    code = error.code
    if code is None:
        return 0
    if not isinstance(code, int):
        return 1
    return code & 255 if -(2**63) <= code < 2**63 else 255


def has_foreign_code():
    """Whether C code may be loaded that keeps output in buffers of its own until exit(3)."""
    for module in list(sys.modules.values()):
        if type(module) is not type(sys):
            return True
        path = vars(module).get("__file__")
        if isinstance(path, str) and path.endswith(".so") and "/lib-dynload/" not in path:
            return True
    return "_ctypes" in sys.modules


def flush_streams():
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


PLAIN = (int, str, float, bool, bytes, complex, type(None), type(sys), range)
DESCRIPTOR = type(type.__dict__["__dict__"])  # of a class's own making; slots have another
MAX_LOOKED_AT = 1000


def parts_of(value):
    """What goes with the value, if itself it goes silently; else None: it may hold a file, or have
    something to say, as finalizers have."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return value
    if kind is dict:
        return [*value.keys(), *value.values()] if len(value) <= MAX_LOOKED_AT else None
    if kind is type(leave):
        parts = (value.__defaults__, value.__kwdefaults__, value.__dict__)
        return None if value.__closure__ else parts
    if kind in (staticmethod, classmethod):
        return (value.__func__,)
    if kind is property:
        return (value.fget, value.fset, value.fdel)
    if kind is DESCRIPTOR:
        return ()
    if kind is type:
        own = value is object or vars(value).get("__module__") == "__main__"
        return (*vars(value).values(), *value.__bases__) if own and "__del__" not in vars(value) else None
    if type(kind) is type and vars(kind).get("__module__") == "__main__" and kind.__dictoffset__:
        return (kind, object.__getattribute__(value, "__dict__"))
    return None


def are_silent(values):
    """Whether nothing is to be seen when they go: of few values, and of the usual kinds."""
    left, seen = list(values), set()
    while left:
        value = left.pop()
        if type(value) in PLAIN or value is object or id(value) in seen:
            continue
        seen.add(id(value))
        parts = parts_of(value)
        if parts is None or len(parts) + len(left) + len(seen) > MAX_LOOKED_AT:
            return False
        left.extend(parts)
    return True


def leave():
    """The last of the functions that run at exit. Threads have been waited for. What the interpreter
    would take down from here on, module by module, goes with the process anyway, and costs three
    quarters of the time that a small program takes. Where something is not as usual it is left to
    the interpreter to do it all."""
    try:
        values = [NAMESPACE[name] for name in NAMESPACE if name not in GIVEN and name != "__loader__"]
        if STATUS is None or has_foreign_code() or not are_silent(values):
            return
        flush_streams()
    except BaseException:
        return
    os._exit(STATUS)


def leave_at_exit():
    """What is first comes last."""
    was_there = "atexit" in sys.modules
    import atexit

    atexit.register(leave)
    if not was_there:
        del sys.modules["atexit"]


# Of the program once it has ended; None until then.
STATUS = None

leave_at_exit()

try:
    PROGRAM, NAMESPACE = prepare()
except ValueError as error:
    os.write(2, f"sandboxrun: not started: the request is malformed: {error}\n".encode())
    os._exit(EXIT_REFUSED)
except OSError as error:
    os.write(2, f"sandboxrun: not started: the request can't be taken in: {error}\n".encode())
    os._exit(EXIT_REFUSED)

# A bare `raise` adds no entry of this frame to the traceback, and the one that the exception
# gained on its way out of exec() is cut off. What follows (SystemExit, sys.excepthook, death by
# SIGINT, waiting for threads) is left to the interpreter itself, up to leave().
try:
    exec(PROGRAM, NAMESPACE)
    STATUS = 0
except BaseException as error:
    STATUS = status_of(error)
    error.__traceback__ = error.__traceback__.tb_next
    raise
