# SPDX-License-Identifier: Apache-2.0
"""Create -> Finished through a real API server, one run at a time, and idle memory.

The clock starts before the POST and stops when the watch shows the condition. The stages come
from the times in status: assigned by the controller, started in the jail, completed, and seen.
"""

import argparse
import datetime
import http.client
import json
import threading
import time

from helpers.cluster import Cluster, run_document
from helpers.rawapi import RawApi

RUNS = "/apis/sandboxrun.dev/v1alpha1/namespaces/default/sandboxruns"


class Watcher(threading.Thread):
    """Notes when the watch first shows each run as finished."""

    def __init__(self, api):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPSConnection(api.address.hostname, api.address.port,
                                                      context=api.context)
        self.headers = api.headers
        self.changed = threading.Condition()
        self.finished = {}

    def run(self):
        self.connection.request("GET", RUNS + "?watch=1", headers=self.headers)
        for line in self.connection.getresponse():
            seen = time.monotonic()
            run = json.loads(line)["object"]
            if run["status"]["phase"] in ("Succeeded", "Failed"):
                with self.changed:
                    self.finished.setdefault(run["metadata"]["name"], (seen, time.time(), run))
                    self.changed.notify_all()

    def wait(self, name, timeout=30):
        with self.changed:
            if not self.changed.wait_for(lambda: name in self.finished, timeout):
                raise SystemExit(f"{name} did not finish within {timeout} s")
            return self.finished[name]


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def quantile(values, q):
    ordered = sorted(values)
    return round(ordered[round((len(ordered) - 1) * q)], 3)


def memory(pid):
    found = {}
    with open(f"/proc/{pid}/smaps_rollup") as rollup:
        for line in rollup:
            name, _, rest = line.partition(":")
            if name in ("Rss", "Pss", "Anonymous"):
                found[name] = int(rest.split()[0])
    return found


def measure(cluster, runs):
    api = RawApi(cluster.plane)
    watcher = Watcher(api)
    watcher.start()
    time.sleep(1)
    totals, stages = [], {"assign": [], "start": [], "run": [], "write_back": []}
    for i in range(runs + 3):
        name = f"bench-{i}"
        created_clock, created = time.time(), time.monotonic()
        answer = api.post(RUNS, run_document(name, "print(1)"))
        if not answer.accepted:
            raise SystemExit(answer.message)
        seen, seen_clock, run = watcher.wait(name)
        status = run["status"]
        if status["reason"] != "Completed":
            raise SystemExit(f"{name}: {status['reason']}: {status['message']}")
        if i < 3:
            continue
        totals.append((seen - created) * 1000)
        points = [created_clock, *(seconds(status[f]) for f in
                                   ("scheduledTime", "startTime", "completionTime")), seen_clock]
        for stage, begin, end in zip(stages, points, points[1:]):
            stages[stage].append((end - begin) * 1000)
    return totals, stages


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    cluster = Cluster()
    try:
        cluster.start(nodes=("node-a",))
        time.sleep(2)
        node = cluster.nodes[0]
        figures = {}
        for name, pid in (("controller", cluster.controller.pid), ("agent", node.agent.pid),
                          ("jailer", node.jailer.pid)):
            used = memory(pid)
            figures[f"{name}_rss_kib"] = used["Rss"]
            figures[f"{name}_pss_kib"] = used["Pss"]
            figures[f"{name}_anonymous_kib"] = used["Anonymous"]
        totals, stages = measure(cluster, runs)
        figures["create_to_finished_runs"] = runs
        figures["create_to_finished_p50_ms"] = quantile(totals, 0.5)
        figures["create_to_finished_p99_ms"] = quantile(totals, 0.99)
        for stage, values in stages.items():
            figures[f"stage_{stage}_p50_ms"] = quantile(values, 0.5)
            figures[f"stage_{stage}_p99_ms"] = quantile(values, 0.99)
        print(json.dumps(figures))
    finally:
        cluster.stop()


if __name__ == "__main__":
    main()
