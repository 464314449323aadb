# SPDX-License-Identifier: Apache-2.0
"""A virtual machine that runs this tree's tests and reports them: qemu, without KVM.

    with Disk({"vm": {"directories": [("tests/jail", "cold")], "patterns": None,
                      "left_out": []}}) as disk:
        with Machine(disk, "vm") as machine:
            for event in machine.events(deadline): ...

Emulation is about ten times slower than the host: for behaviour, not for figures.
"""

import json
import os
import pathlib
import selectors
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "build/vm"
BUILD = ROOT / "tests/vm/build.sh"
BIN = pathlib.Path(os.environ.get("SANDBOXRUN_BIN", ROOT / "build/release/bin"))
RUNTIMES = pathlib.Path(os.environ.get("SANDBOXRUN_RUNTIMES", ROOT / "build/runtimes"))
RUNTIME = "python3.12"
PROGRAMS = (BIN / "sandboxrun", BIN / "sandboxrun-jailer")
TEST_PROGRAMS = (BIN.parent / "tests/jail/jailer_trusting",)

BUILD_UNAVAILABLE = 3
BUILD_TIMEOUT_S = 300
# A machine that says nothing for so long is taken for dead; no single test may take longer, and no
# family of attempts.
SILENCE_TIMEOUT_S = 300
MAX_LINE = 1 << 20
MEMORY_MIB = 2048


class Unavailable(Exception):
    """This machine can't have a virtual machine; the text says why."""


class MachineError(Exception):
    """The virtual machine did not come up, went away or fell silent."""


def prepare():
    """Kernel, initramfs and root file system, made anew where they are out of date."""
    done = subprocess.run([str(BUILD)], capture_output=True, text=True, timeout=BUILD_TIMEOUT_S)
    if done.returncode == BUILD_UNAVAILABLE:
        raise Unavailable(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0:
        raise MachineError(f"{BUILD.name} failed:\n{done.stderr}")
    for program in PROGRAMS + TEST_PROGRAMS:
        if not program.exists():
            raise MachineError(f"{program} does not exist: build the programs first")
    if not (RUNTIMES / RUNTIME).is_dir():
        raise MachineError(f"{RUNTIMES / RUNTIME} does not exist: run hack/make-runtime.sh first")


def libraries_of(programs):
    """Paths of the shared libraries that the programs are linked with."""
    listing = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True,
                             check=True).stdout
    found = set()
    for line in listing.splitlines():
        words = line.split()
        if len(words) >= 3 and words[1] == "=>":
            if words[2] == "not":
                raise MachineError(f"a program's library is missing: {line.strip()}")
            found.add(words[2])
    return sorted(found)


def ignore_caches(_, names):
    return [name for name in names if name == "__pycache__"]


class Disk:
    """The tree as the tests know it, as far as they need it, with the programs in place.

    plans says by name what a machine can be told to run; guest/report.py reads them.
    """

    def __init__(self, plans):
        self.plans = plans

    def __enter__(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="sandboxrun-vm-")
        try:
            tree = pathlib.Path(self.scratch.name, "src")
            self.fill(tree)
            self.path = pathlib.Path(self.scratch.name, "src.img")
            self.make(tree)
        except BaseException:
            self.scratch.cleanup()
            raise
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def fill(self, tree):
        for directory in ("tests/helpers", "tests/jail", "tests/pool", "tests/runtime",
                          "tests/escape", "tests/vm", "examples", "manifests", "charts", "seccomp"):
            shutil.copytree(ROOT / directory, tree / directory, ignore=ignore_caches)
        bin_directory = tree / "build/release/bin"
        bin_directory.mkdir(parents=True)
        for program in PROGRAMS:
            shutil.copy(program, bin_directory)
        for program in TEST_PROGRAMS:
            target = bin_directory.parent / program.relative_to(BIN.parent)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(program, target)
        for library in libraries_of(PROGRAMS + TEST_PROGRAMS):
            target = tree / "libraries" / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)
        # cp keeps owners, links and modes as they are.
        (tree / "build/runtimes").mkdir()
        subprocess.run(["cp", "-a", "--reflink=auto", str(RUNTIMES / RUNTIME),
                        str(tree / "build/runtimes")], check=True)
        (tree / "build/vm-plans.json").write_text(json.dumps(self.plans), encoding="utf-8")

    def make(self, tree):
        used = subprocess.run(["du", "-sk", "--apparent-size", str(tree)], capture_output=True,
                              text=True, check=True).stdout
        kib = int(used.split()[0])
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-m", "0", "-d",
                        str(tree), str(self.path), f"{kib + kib // 2 + 32768}k"],
                       check=True, capture_output=True)
        shutil.rmtree(tree)


class Machine:
    """Boots and runs one of the disk's plans; leaving the context ends it."""

    def __init__(self, disk, plan, kernel_options=()):
        self.disk = disk
        self.plan = plan
        self.kernel_options = kernel_options
        self.console = OUTPUT / f"{plan}-console.log"

    def __enter__(self):
        # Without -cx16 a machine of two emulated processors crashes now and then; with SMAP, a far
        # return of a user's program does (it reads the stack as the kernel would). Page tables of
        # five levels are slower. Without tsc=reliable every look at the clock costs a call to the
        # emulator.
        options = ["console=ttyS0", "panic=-1", "quiet", "mitigations=off", "tsc=reliable",
                   "cgroup_no_v1=all", f"sandboxrun_plan={self.plan}", *self.kernel_options]
        self.console.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            # It must not outlive its owner, however that ends.
            ["setpriv", "--pdeathsig", "KILL", "--", "qemu-system-x86_64", "-M", "pc",
             "-accel", "tcg,thread=multi", "-cpu", "max,-cx16,-smap,-la57", "-smp", "2",
             "-m", str(MEMORY_MIB), "-nodefaults", "-display", "none", "-no-reboot",
             "-serial", f"file:{self.console}", "-serial", "stdio",
             "-drive", f"file={OUTPUT}/base.img,if=virtio,format=raw,snapshot=on",
             "-drive", f"file={self.disk.path},if=virtio,format=raw,readonly=on",
             "-kernel", str(OUTPUT / "vmlinuz"), "-initrd", str(OUTPUT / "initramfs"),
             "-append", " ".join(options)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def events(self, deadline):
        """What the machine reports, to the event "done" at its end. deadline is a time of
        time.monotonic() by which that must be."""
        pending = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                left = min(SILENCE_TIMEOUT_S, deadline - time.monotonic())
                if left <= 0 or not selector.select(left):
                    raise MachineError(f"nothing was heard for {max(left, 0):.0f} s, or the time "
                                       f"was up\n{self.last_words()}")
                data = os.read(self.process.stdout.fileno(), 65536)
                if not data:
                    raise MachineError(f"the machine ended early\n{pending.decode()}\n"
                                       f"{self.last_words()}")
                *lines, pending = (pending + data).split(b"\n")
                if len(pending) > MAX_LINE:
                    raise MachineError("a line of the report is too long")
                for line in lines:
                    event = self.parse(line)
                    yield event
                    if event["event"] == "done":
                        return

    def parse(self, line):
        try:
            return json.loads(line)
        except ValueError:
            raise MachineError(f"not a line of a report: {line[:400]!r}\n"
                               f"{self.last_words()}") from None

    def last_words(self, lines=40):
        try:
            text = self.console.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            return f"no console: {error}"
        return "the console's last lines:\n" + "\n".join(text.splitlines()[-lines:])
