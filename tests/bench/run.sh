#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures side by side on this machine and prints figures; fails on no figure.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
    cat <<'TXT'
usage: sudo tests/bench/run.sh [--quick] [--json]

  cold runs: the bare interpreter, bubblewrap and the jail take turns (tests/bench/cold.c)
  each lock of a jail, in microseconds, against a plain clone (tests/bench/locks.c)
  ToolCall: what a network slot adds to a run, a cold run, throughput (tests/bench/egress.py)
  through the API server: create -> Finished with stages, idle memory (tests/bench/api.py)
  --quick  fewer rounds, under a minute once everything is built
  --json   one JSON object on stdout and nothing else
TXT
}

rounds=300
runs=200
downloads=15
json=0
for arg in "$@"; do
    case "$arg" in
    --quick) rounds=60 runs=40 downloads=11 ;;
    --json) json=1 ;;
    -h | --help) usage; exit 0 ;;
    *) echo "run.sh: unknown argument '$arg'" >&2; usage >&2; exit 2 ;;
    esac
done
if [ "$(id -u)" != 0 ]; then
    echo "run.sh: needs root to make jails: sudo tests/bench/run.sh" >&2
    exit 1
fi

{
    ./hack/deps.sh test
    cmake --preset release
    cmake --build --preset release --target programs bench_cold bench_locks
    ./hack/make-runtime.sh
    tests/controlplane/build.sh
} >&2

cold=$(build/release/bin/bench_cold build/release/bin/sandboxrun-jailer build/runtimes python3.12 \
    "$rounds")
quiet=$(build/release/bin/bench_cold build/release/bin/sandboxrun-jailer build/runtimes python3.12 \
    "$((rounds / 4))" 100)
locks=$(build/release/bin/bench_locks build/runtimes python3.12 "$rounds")
egress=$(PYTHONPATH=tests python3 tests/bench/egress.py --rounds "$rounds" --downloads "$downloads")
api=$(PYTHONPATH=tests python3 tests/bench/api.py --runs "$runs")

python3 - "$json" "$cold" "$quiet" "$locks" "$egress" "$api" <<'PY'
import json
import sys

as_json, cold, quiet, locks, egress, api = sys.argv[1] == "1", *map(json.loads, sys.argv[2:])
figures = {**cold, **{f"quiet_{k}": v for k, v in quiet.items()}}
figures["plain_clone_us"] = locks["plain_clone"]["median"]
for step in locks["network_made_ahead"]:
    name = f"lock_{step['lock'].replace('-', '_')}_us"
    figures[name] = round(figures.get(name, 0) + step["median"], 1)
figures |= egress | api
if as_json:
    print(json.dumps(figures))
else:
    for name, value in figures.items():
        print(f"{name:40} {value}")
PY
