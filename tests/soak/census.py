# SPDX-License-Identifier: Apache-2.0
"""Counts what runs could leave behind, ours by name and the machine's as a whole.

    census = Census(orphans)
    ...
    census.settle()          # waits, with a bound, for what the kernel releases late
    print(census.table()); census.left()

A row is a set of names or a figure. Of a set everything that has come and stays is left behind; of
a figure what is above its tolerance. Each tolerance stands beside its reason. What belongs to
sandboxes of this test is told by their uids and by their cgroups, so that others on the machine
don't count; the other rows are the machine's own.
"""

import collections
import ctypes
import dataclasses
import glob
import os
import re
import tempfile
import time

from helpers.leftovers import files_of, network_namespaces, slab_objects

UIDS = range(2_100_200_000, 2_100_200_000 + 65536)
PARENT = "sandboxrun-soak"
OWN_PREFIX = "sandboxrun-soak-"  # of the directory in which this test's own files are

# Processes that a killed jailer or agent leaves are gone so soon.
GONE_WITHIN_S = 5.0

# For the census: namespaces, cgroups and mounts are released by work queues after grace periods of
# the kernel, memory cgroups when their last page goes.
SETTLED_WITHIN_S = 60.0
FIRST_LOOKS_FOR_S, LOOKS_FOR_S = 4.0, 2.0


def lines(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


# ---- what is ours

def is_ours(directory, orphans):
    """Whether the process belongs to a sandbox or to a jailer's helpers. A zombie of a sandbox has
    lost its cgroup and has still its uid."""
    if int(os.path.basename(directory)) in orphans:
        return True
    uid = next((int(line.split()[1]) for line in lines(directory + "/status")
                if line.startswith("Uid:")), 0)
    return uid in UIDS or any(f"/{PARENT}/" in line for line in lines(directory + "/cgroup"))


def become_subreaper():
    """What loses its parent below this process becomes its child."""
    pr_set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(pr_set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "PR_SET_CHILD_SUBREAPER")


class Orphans:
    """Makes this process the parent of all that its jailers leave behind, so that nothing of it
    can hide below another process, and collects what has ended."""

    def __init__(self, known):
        self.known = known  # gives the pids of the children that are to live

    def pids(self):
        children = {int(pid) for path in glob.glob("/proc/self/task/*/children")
                    for line in lines(path) for pid in line.split()}
        return children - self.known()

    def collect(self):
        for pid in self.pids():
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def processes(orphans):
    orphans.collect()
    pids = orphans.pids()
    found = set()
    for directory in glob.glob("/proc/[0-9]*"):
        if is_ours(directory, pids):
            names = lines(directory + "/comm")
            found.add(f"{os.path.basename(directory)} {names[0] if names else '?'}")
    return found


def cgroups():
    return {path for root in ("/sys/fs/cgroup", "/sys/fs/cgroup/*")
            for top in glob.glob(f"{root}/{PARENT}")
            for path, _, _ in os.walk(top)}


def files():
    """By owner; by the name that our programs give to what they make outside their directories; and
    whatever is in the directory that this test has for its own files."""
    found = {f"{place}/{name}" for place in ("/run", "/dev/shm") for name in os.listdir(place)
             if "sandboxrun" in name}
    own = tempfile.gettempdir()
    if OWN_PREFIX in own:
        found |= {entry.path for entry in os.scandir(own)}
    return found | files_of(UIDS, {"/tmp", "/var/tmp", "/dev/shm", "/run", own})


def keys():
    by_uid = {line.strip() for line in lines("/proc/key-users")
              if int(line.split(":")[0]) in UIDS}
    by_key = {line.strip() for line in lines("/proc/keys") if int(line.split()[5]) in UIDS}
    return by_uid | by_key


# ---- what is the machine's

def mounts():
    return {" ".join(line.split()[:5]) for line in lines("/proc/self/mountinfo")}


NAMESPACE = re.compile(r"(cgroup|ipc|mnt|net|pid|time|user|uts):\[[0-9]+\]")


class Look:
    """One look at what the machine's processes hold, of which several rows are made."""

    def __init__(self, orphans):
        self.orphans = orphans
        self.threads, self.inotify = 0, 0
        self.namespaces, self.sockets = set(), set()
        self.ours = set()  # namespaces of this process and of all below it
        self.mounts = {}   # by mount namespace
        below = descendants()
        for directory in glob.glob("/proc/[0-9]*"):
            self.threads += len(glob.glob(directory + "/task/[0-9]*"))
            links = self.links(directory)
            if int(os.path.basename(directory)) in below:
                self.ours |= links
                self.inotify += self.inotify_of(directory)
        # A mount of the file system of namespaces holds one too; its root is the namespace's name.
        for line in lines("/proc/self/mountinfo"):
            if " nsfs " in line:
                self.namespaces.add(line.split()[3])
                self.ours.add(line.split()[3])

    def links(self, directory):
        """The namespaces of a process and of its descriptors."""
        found = set()
        for path in glob.glob(directory + "/ns/*") + glob.glob(directory + "/fd/*"):
            try:
                link = os.readlink(path)
            except OSError:
                continue
            if NAMESPACE.fullmatch(link):
                found.add(link)
                if path.endswith("/ns/mnt") and link not in self.mounts:
                    self.mounts[link] = len(lines(directory + "/mountinfo"))
            elif link.startswith("socket:"):
                self.sockets.add(link)
        self.namespaces |= found
        return found

    def inotify_of(self, directory):
        found = 0
        for path in glob.glob(directory + "/fd/*"):
            try:
                found += os.readlink(path) == "anon_inode:inotify"
            except OSError:
                continue
        return found

    def held(self, kind):
        return sum(link.startswith(kind + ":") for link in self.namespaces)


def descendants():
    """This process and all below it; a subreaper loses none."""
    parents = {}
    for directory in glob.glob("/proc/[0-9]*"):
        found = lines(directory + "/stat")
        if found:
            parents[int(os.path.basename(directory))] = int(found[0].rsplit(")", 1)[1].split()[1])
    below = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in below} - below:
        below |= more
    return below


def interfaces():
    return set(os.listdir("/sys/class/net"))


def system_v():
    return {f"{kind} {' '.join(line.split()[:2])}" for kind in ("shm", "sem", "msg")
            for line in lines(f"/proc/sysvipc/{kind}")[1:]}


def message_queues():
    return set(os.listdir("/dev/mqueue")) if os.path.ismount("/dev/mqueue") else None


def connections_tracked():
    found = lines("/proc/sys/net/netfilter/nf_conntrack_count")
    return int(found[0]) if found else None


def dying_v1(controller):
    """The kernel counts what is live and what is removed and not yet released; less the live."""
    for line in lines("/proc/self/mountinfo"):
        fields = line.split()
        if fields[fields.index("-") + 1] == "cgroup" and controller in fields[-1].split(","):
            live = sum(1 for _ in os.walk(fields[4]))
            break
    else:
        return None
    counts = {line.split()[0]: int(line.split()[2]) for line in lines("/proc/cgroups")[1:]}
    return counts[controller] - live


def dying_v2():
    for line in lines("/proc/self/mountinfo"):
        fields = line.split()
        if fields[fields.index("-") + 1] == "cgroup2":
            stat = dict(line.split() for line in lines(fields[4] + "/cgroup.stat"))
            return int(stat["nr_dying_descendants"])
    return None


def memory_kib(name):
    for line in lines("/proc/meminfo"):
        if line.startswith(name + ":"):
            return int(line.split()[1])
    return None


# ---- the rows

@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    read: collections.abc.Callable
    tolerance: int = 0
    unit: str = ""


# A memory cgroup that is removed stays until the last page that was charged to it is freed, and
# pages of a file's cache stay until the machine needs memory. A run's own files are gone with its
# mounts, and the runtime's are read ahead by the jailer. Of what is left, mostly pages of the
# kernel's own that were charged by chance, there are few, and they go with the next cgroups.
DYING = {"memory": 32, "cpu": 4, "cpuacct": 4, "pids": 4, "freezer": 4, "devices": 4, "blkio": 4,
         "cpuset": 4}


def slab(cache):
    return lambda: slab_objects(cache)


def slab_row(name, cache, tolerance):
    return Row(name, lambda look: slab_objects(cache), tolerance)


def unheld_row(name, count, tolerance, held):
    """Objects of the kernel that no process of the machine is seen to hold. So what others make
    and hold meanwhile doesn't count; what a process gives up at the very moment is the tolerance,
    and so are those that the kernel has of its own, which are the same before and after."""
    def read(look):
        objects = count()
        return None if objects is None else objects - held(look)
    return Row(name, read, tolerance)


def rows():
    return [
        # Ours, each by its name: nothing may stay.
        Row("processes and zombies of ours", lambda look: processes(look.orphans)),
        Row("cgroups of ours, all hierarchies", lambda look: cgroups()),
        Row("files of ours", lambda look: files()),
        Row("kernel keys of ours", lambda look: keys()),
        Row("namespaces of ours", lambda look: look.ours),
        Row("inotify instances of ours", lambda look: look.inotify),
        # The machine's, by name as well.
        Row("mounts", lambda look: mounts()),
        Row("network interfaces", lambda look: interfaces()),
        Row("System V objects", lambda look: system_v()),
        Row("message queues", lambda look: message_queues()),
        # What the kernel has, less what processes hold. After a full test all of these are less
        # than what one run in a hundred would leak.
        unheld_row("network namespaces nobody holds", network_namespaces, 2,
                   lambda look: look.held("net")),
        unheld_row("pid namespaces nobody holds", slab("pid_namespace"), 2,
                   lambda look: look.held("pid")),
        unheld_row("user namespaces nobody holds", slab("user_namespace"), 2,
                   lambda look: look.held("user")),
        unheld_row("uts namespaces nobody holds", slab("uts_namespace"), 2,
                   lambda look: look.held("uts")),
        unheld_row("ipc namespaces nobody holds", slab("mqueue_inode_cache"), 2,
                   lambda look: look.held("ipc")),
        unheld_row("mounts in nobody's namespace", slab("mnt_cache"), 24,
                   lambda look: sum(look.mounts.values())),
        unheld_row("tasks without a thread", slab("task_struct"), 16, lambda look: look.threads),
        # Each network namespace of other programs has some ten of the kernel's own.
        unheld_row("sockets nobody holds", slab("sock_inode_cache"), 64,
                   lambda look: len(look.sockets)),
        slab_row("keys", "key_jar", 4),
        # Libraries and programs are open files as well, some hundred of one that others start.
        slab_row("open files", "filp", 400),
        # A cgroup has some thirty files in each hierarchy, so that these are twenty cgroups.
        slab_row("files of cgroups", "kernfs_node_cache", 600),
        Row("connections tracked", lambda look: connections_tracked(), 16),
        Row("dying cgroups, v2", lambda look: dying_v2(), DYING["memory"]),
        *[Row(f"dying cgroups, v1 {name}", lambda look, name=name: dying_v1(name), allowed)
          for name, allowed in DYING.items()],
        # Pages. Of a full test each is less than 1 KiB a run, and the smallest of what could leak
        # as a whole, a mount or a namespace with all that hangs on it, is more.
        Row("slab, unreclaimable", lambda look: memory_kib("SUnreclaim"), 8192, "KiB"),
        Row("per-processor memory", lambda look: memory_kib("Percpu"), 2048, "KiB"),
        Row("tmpfs and shared memory", lambda look: memory_kib("Shmem"), 1024, "KiB"),
    ]


class Census:
    def __init__(self, orphans):
        self.orphans = orphans
        self.rows = rows()
        self.before = self.first_looks()
        self.after = {}

    def read(self):
        look = Look(self.orphans)
        return {row.name: row.read(look) for row in self.rows}

    def first_looks(self):
        """The least of some looks: what is just being released, or others hold for a moment, would
        hide what leaks. Of names all that were there, for those aren't ours."""
        start = time.monotonic()
        found = self.read()
        while time.monotonic() < start + FIRST_LOOKS_FOR_S:
            time.sleep(0.5)
            for name, value in self.read().items():
                found[name] = found[name] | value if isinstance(value, set) \
                    else least(found[name], value)
        return found

    def settle(self, within=SETTLED_WITHIN_S):
        """Reads until nothing is left behind, or until the time is up; a few times in any case,
        since what others do at the same moment is in a single look."""
        start = time.monotonic()
        self.after = self.read()
        while time.monotonic() < start + min(within, within if self.left() else LOOKS_FOR_S):
            time.sleep(0.5)
            following = self.read()
            for name, value in following.items():
                self.after[name] = at_least(self.before[name], self.after[name], value)
        return self

    def difference(self, row):
        before, after = self.before[row.name], self.after[row.name]
        if before is None or after is None:
            return 0
        return len(after - before) if isinstance(after, set) else after - before

    def is_left(self, row):
        return self.difference(row) > row.tolerance

    def left(self):
        return [row for row in self.rows if self.is_left(row)]

    def count(self):
        """How many things: one of a row of pages."""
        return sum(1 if row.unit else self.difference(row) for row in self.left())

    def names(self, row):
        after = self.after[row.name]
        return sorted(after - self.before[row.name]) if isinstance(after, set) else []

    def table(self):
        shown = [f"{'':<36}{'before':>10}{'after':>10}{'difference':>12}{'allowed':>10}"]
        for row in self.rows:
            if self.before[row.name] is None or self.after[row.name] is None:
                shown.append(f"{row.name:<36}{'this machine has none':>32}")
                continue
            mark = "  LEFT BEHIND" if self.is_left(row) else ""
            shown.append(f"{row.name:<36}{size(self.before[row.name]):>10}"
                         f"{size(self.after[row.name]):>10}{self.difference(row):>+12}"
                         f"{row.tolerance:>10} {row.unit}{mark}".rstrip())
            shown += [f"    {name}" for name in self.names(row)[:20]]
        return "\n".join(shown)


def at_least(before, earlier, now):
    """What is left behind is there in each look; the rest is late, or others'."""
    if isinstance(now, set):
        return now & (earlier | before)
    return least(earlier, now)


def least(one, other):
    return None if one is None or other is None else min(one, other)


def size(value):
    return 0 if value is None else len(value) if isinstance(value, set) else value
