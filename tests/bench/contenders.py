# SPDX-License-Identifier: Apache-2.0
"""Who is measured on a node, as lines for bench_node (tests/bench/node/contender.h).

This project in each of its ways, the bare interpreter as the floor of those that start one, the
bare interpreter that was started ahead as the floor of those that don't, and the peers that are
installed: hack/deps.sh bench installs those that Debian has. Every peer runs the interpreter of the
same root file system, read-only and without a network; those that have limits and a filter get the
limits and the system calls that this project's own sandboxes have.
"""

import dataclasses
import functools
import json
import os
import re
import shutil
import subprocess

from helpers.local import ROOT, RUNTIMES, program

RUNTIME = "python3.12"
ROOTFS = os.path.join(RUNTIMES, RUNTIME)
PYTHON = os.path.join(ROOTFS, "usr/bin/python3")
# Of the interpreter inside the root file system; {code} is the program.
INSIDE = ["/usr/bin/python3", "-I", "-c", "{code}"]

# What bench_node's contender of this kind runs: as little as can be between the write and the run.
PRESTARTED = """
import os, sys
os.write(1, b"\\n")
exec(sys.stdin.read())
sys.stdout.flush()
os._exit(0)
"""

MEMORY_BYTES = 512 << 20
CPU_PERIOD_US = 100000
MAX_PIDS = 64

# Pools as the chart has them; and room for as many runs at once as any flood has, whatever the
# machine's memory is: none of them uses what it may.
JAILER_OPTIONS = ["--fd", "3", "--runtimes-dir", RUNTIMES, "--log-format", "json",
                  "--max-runs", "128", "--memory-capacity", "128Gi", "--cpu-capacity", "128"]
POOL_SIZE = 8
POOL = ["--pool-min", str(POOL_SIZE), "--pool-max", str(POOL_SIZE)]


@dataclasses.dataclass
class Contender:
    name: str
    title: str
    line: list
    slow: bool = False  # a run takes so long that it gets fewer turns
    missing: str = ""   # why it takes no part
    pooled: bool = False

    def text(self, every):
        assert not any("\t" in word or "\n" in word for word in self.line), self.line
        kind, *words = self.line
        return "\t".join([kind, self.name, str(every if self.slow else 1), *words])


@functools.cache
def jailer_help():
    return subprocess.run([program("sandboxrun-jailer"), "--help"], capture_output=True, text=True,
                          check=True).stdout


def jailed(name, title, settle_ms, *options, log_level="warn", jailer=None):
    jailer = jailer or program("sandboxrun-jailer")
    return Contender(name, title, ["jailed", str(settle_ms), RUNTIME, jailer, *JAILER_OPTIONS,
                                   "--log-level", log_level, *options], pooled=bool(options))


def has_modes():
    """Whether the jailer can fork what waits from a template."""
    return "--pool-mode" in jailer_help()


def pool(kind):
    """A jailer's options for sandboxes that wait, as the chart has them."""
    mode = {"forked": "fork", "fresh": "fresh"}[kind]
    return POOL + (["--pool-mode", mode] if has_modes() else [])


def warm_kind():
    """The kind of sandboxes that wait which is the faster one of those that are offered."""
    return "forked" if has_modes() else "fresh"


def own(log_level="warn"):
    """This project: cold, warm fresh, warm forked."""
    forked = jailed("forked", "SandboxRun, warm, forked", 20, *pool("forked"), log_level=log_level)
    if not has_modes():
        forked.missing = "not offered by this jailer"
    return [
        jailed("cold", "SandboxRun, cold", 0, log_level=log_level),
        jailed("fresh", "SandboxRun, warm, fresh", 50, *pool("fresh"), log_level=log_level),
        forked,
    ]


def bare():
    script = "; ".join(PRESTARTED.strip().splitlines())
    return [
        Contender("bare", "bare interpreter", ["spawned", PYTHON, *INSIDE[1:]]),
        Contender("prestarted", "bare interpreter, started ahead",
                  ["prestarted", PYTHON, "-I", "-c", script]),
    ]


def allowed_calls():
    """What our own policy of Snippet allows; it is written as an OCI configuration has it."""
    with open(os.path.join(ROOT, "seccomp/snippet.json"), encoding="utf-8") as file:
        rules = json.load(file)["syscalls"]
    return [{key: rule[key] for key in ("names", "action", "args") if key in rule}
            for rule in rules if rule["action"] == "SCMP_ACT_ALLOW"]


def oci_config(code, calls, pids):
    args = [word.replace("{code}", code) for word in INSIDE]
    config = {
        "ociVersion": "1.0.2",
        "process": {
            "terminal": False, "user": {"uid": 65532, "gid": 65532}, "args": args, "cwd": "/",
            "env": ["PATH=/usr/bin", "LANG=C.UTF-8"], "noNewPrivileges": True,
            "capabilities": {kind: [] for kind in ("bounding", "effective", "permitted")},
        },
        "root": {"path": ROOTFS, "readonly": True}, "hostname": "sandbox",
        "mounts": [
            {"destination": "/proc", "type": "proc", "source": "proc"},
            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs",
             "options": ["nosuid", "mode=755", "size=64m"]},
            {"destination": "/tmp", "type": "tmpfs", "source": "tmpfs",
             "options": ["nosuid", "nodev", "size=128m"]},
        ],
        "linux": {
            "namespaces": [{"type": t} for t in ("pid", "mount", "ipc", "uts", "network")],
            "resources": {"memory": {"limit": MEMORY_BYTES, "swap": MEMORY_BYTES},
                          "cpu": {"quota": CPU_PERIOD_US, "period": CPU_PERIOD_US},
                          "pids": {"limit": pids}},
        },
    }
    if calls:
        config["linux"]["seccomp"] = {
            "defaultAction": "SCMP_ACT_ERRNO",
            "syscalls": calls}
    return config


def bundle(directory, name, code, calls, pids):
    path = os.path.join(directory, name)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
        json.dump(oci_config(code, calls, pids), file)
    return path


def version(*argv):
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    found = re.search(r"[0-9]+(\.[0-9]+)+[-~0-9a-z.]*", done.stdout + done.stderr)
    return found.group(0) if found else "?"


def peers(directory, code):
    """The others, of which some may be missing. Bundles for code are laid out in directory."""
    calls = allowed_calls()
    oci = {"crun": (["crun"], calls, MAX_PIDS), "runc": (["runc"], calls, MAX_PIDS),
           # It has a filter and a kernel of its own, whose threads count among the processes.
           "runsc": (["runsc", "--network=none"], None, 16 * MAX_PIDS)}
    found = [Contender(
        "bubblewrap", "bubblewrap",
        ["spawned", "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", ROOTFS, "/",
         "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--clearenv", *INSIDE])]
    for name, (command, *limits) in oci.items():
        path = bundle(directory, name, code, *limits)
        state = os.path.join(directory, f"{name}-state")
        found.append(Contender(name, {"runsc": "runsc (gVisor)"}.get(name, name),
                               ["spawned", *command, "--root", state, "run", "--bundle", path,
                                "{id}"],
                               slow=name != "crun"))
    limits = ["--memory", str(MEMORY_BYTES), "--cpus", "1", "--pids-limit", str(MAX_PIDS),
              "--ulimit", "nofile=1024:1024", "--ulimit", f"nproc={MAX_PIDS}:{MAX_PIDS}"]
    found.append(Contender(
        "podman", "podman", ["spawned", "podman", "run", "--rm", "--network=none", "--read-only",
                             *limits, "--user", "65532:65532", "--rootfs", ROOTFS, *INSIDE],
        slow=True))
    found.append(Contender(
        "nsjail", "nsjail",
        ["spawned", "nsjail", "--really_quiet", "-Mo", "--chroot", ROOTFS, "--user", "65532",
         "--group", "65532", "--time_limit", "20", "--cgroup_mem_max", str(MEMORY_BYTES),
         "--cgroup_pids_max", str(MAX_PIDS), "--cgroup_cpu_ms_per_sec", "1000", "--", *INSIDE]))
    box = ["--box-id={worker}", "--cg"]
    found.append(Contender(
        "isolate", "isolate",
        ["spawned", "isolate", *box, "--silent", "--init", ";", "isolate", *box, "--silent",
         f"--dir=/usr={ROOTFS}/usr", "--processes", "--run", "--", *INSIDE, ";",
         "isolate", *box, "--cleanup"]))
    for peer in found:
        if not shutil.which(peer.line[1]):
            peer.missing = "not installed"
        else:
            peer.title += f" {version(peer.line[1], '--version')}"
    return found


def hides_unified_cgroups():
    """Words that run a command without the second cgroup hierarchy in its sight: crun takes a
    machine that has both for one that it does not support."""
    mounts = {}
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        for line in file:
            fields = line.split()
            mounts.setdefault(fields[fields.index("-") + 1], []).append(fields[4])
    if "cgroup" not in mounts or "cgroup2" not in mounts:
        return []
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c",
            'umount "$1" && shift && exec "$@"', "sh", mounts["cgroup2"][0]]
