# SPDX-License-Identifier: Apache-2.0
"""Neighbours: sandboxes that do honest work beside an attempt, and tell how they fared.

A watcher holds secrets, and says again and again that all it has is as it was. A worker measures
the processor time that it needs for one piece of work: a bomb beside it may take its own share of
the machine, and must not make the worker's pieces dearer.
"""

import json
import os
import subprocess
import threading

from corpus import MAX_TIMEOUT_S
from helpers.local import EMULATED, PATIENCE, RUNTIMES, document, program

# Pure computing, of about 3 ms. The lower part of the sample is free of what other programs of
# this machine do to the clock; and of pieces before and after the bombs there is none.
WORKER = """
import json, time
SKIP_S, WORK_S = {skip}, {work}
held = bytearray(b"neighbour" * 116509) * 64
def digest():
    return hash(bytes(held[::4097])), len(held)
before = digest()
time.sleep(SKIP_S)
costs = []
end = time.monotonic() + WORK_S
while time.monotonic() < end:
    start = time.thread_time_ns()
    number = 1
    for _ in range(30000):
        number = (number * 1103515245 + 12345) & 0x7fffffff
    costs.append(time.thread_time_ns() - start)
costs.sort()
print(json.dumps({{"cost": costs[len(costs) // 5], "pieces": len(costs),
                  "memory": digest() == before}}))
"""

WATCHER = """
import os, time
secret = os.environ["SECRET"]
for place in ("/tmp", "/dev/shm", "/home/sandbox"):
    with open(place + "/secret", "w") as file:
        file.write(secret)
held = secret * 10000
while True:
    for place in ("/tmp", "/dev/shm", "/home/sandbox"):
        with open(place + "/secret") as file:
            if file.read() != secret:
                print("changed", flush=True)
        if set(os.listdir(place)) - {"secret", "main.py"}:
            print("planted", os.listdir(place), flush=True)
    if held != secret * 10000 or os.getppid() != 1:
        print("changed", flush=True)
    print("well", flush=True)
    time.sleep(0.05)
"""

SKIP_S, WORK_S = 0.6, 1.0
WORKER_MEMORY = "128Mi"
MIN_SPEED = 0.0 if EMULATED else 0.9  # an emulated machine's is not judged


def worker(name):
    """The document of a worker whose work falls into the middle of a bomb's two seconds."""
    return document(WORKER.format(skip=SKIP_S, work=WORK_S), name=name, timeoutSeconds=30,
                    resources={"limits": {"cpu": "400m", "memory": WORKER_MEMORY}})


def report(status):
    """What a worker found, or None if it didn't come to its end."""
    if status["reason"] != "Completed":
        return None
    return json.loads(status["stdout"])


class Watcher:
    """A sandbox that lives beside a family's attempts, made by a jailer of its own."""

    def __init__(self, outside, secret):
        spec = document(WATCHER, name="watcher", timeoutSeconds=MAX_TIMEOUT_S,
                        env=[{"name": "SECRET", "value": secret}],
                        resources={"limits": {"cpu": "100m", "memory": "64Mi"}})
        self.process = subprocess.Popen(
            [program("sandboxrun"), "run", "-q", "--jailer", outside.jailer, "--runtimes-dir",
             RUNTIMES, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.process.stdin.write(json.dumps(spec))
        self.process.stdin.close()
        self.well, self.bad = 0, []
        self.up = threading.Event()
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()
        if not self.up.wait(30 * PATIENCE):
            raise AssertionError(f"no neighbour: {self.process.stderr.read()}")

    def listen(self):
        for line in self.process.stdout:
            if line == "well\n":
                self.well += 1
            else:
                self.bad.append(line.strip())
            self.up.set()

    def changes(self):
        """What happened to it; it must be alive and well, and go on being so."""
        before = self.well
        alive = self.process.poll() is None
        while alive and self.well == before and not self.bad:
            alive = self.process.poll() is None
            self.thread.join(0.01)
        return [f"the neighbour: {line}" for line in self.bad[:4]] + (
            [] if alive else ["the neighbour has ended"])

    def end(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, 2)
        self.process.wait(30)
        self.thread.join(10)
        self.process.stdout.close()
        self.process.stderr.close()
