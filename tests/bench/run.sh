#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures side by side on this machine and prints figures; fails on no figure.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
    cat <<'TXT'
usage: sudo tests/bench/run.sh [--quick | --smallest] [--json] [--peers] [--plot FILE] [--publish]
                               [--only NAMES]

  runs on a node, of the bare interpreter, of SandboxRun cold and warm, and of the other sandboxes
  that are installed: latency of one, also after 100 ms of idling, as many as go at once, CPU and
  memory of one; the contenders take turns (tests/bench/node.py)
  where the time of a run goes, stage by stage (tests/bench/stages.py)
  each lock of a jail, in microseconds, against a plain clone (tests/bench/locks.c)
  ToolCall: what a network slot adds to a run, a cold run, throughput (tests/bench/egress.py)
  through the API server: create -> Finished, over the bare cost of the same writes and hops, with
  stages; idle memory (tests/bench/api.py)

  --quick      fewer rounds, under a minute once everything is built
  --json       one JSON object on stdout and nothing else
  --peers      first install the other sandboxes that Debian has (hack/deps.sh bench)
  --plot FILE  draw the runs on a node as an SVG
  --publish    write docs/benchmark.md and docs/bench.svg anew
  --smallest   one or two of each, whose figures say nothing: for a test of the bench
  --only NAMES of the runs on a node these alone, and nothing else: bare, prestarted, cold, fresh,
               forked, bubblewrap, crun, runc, runsc, podman, nsjail, isolate
TXT
}

peers=0
arguments=()
for arg in "$@"; do
    case "$arg" in
    -h | --help) usage; exit 0 ;;
    --peers) peers=1 ;;
    *) arguments+=("$arg") ;;
    esac
done
if [ "$(id -u)" != 0 ]; then
    echo "run.sh: needs root to make jails: sudo tests/bench/run.sh" >&2
    exit 1
fi

{
    ./hack/deps.sh test
    [ "$peers" = 0 ] || ./hack/deps.sh bench
    cmake --preset release
    cmake --build --preset release --target programs bench_node bench_locks
    ./hack/make-runtime.sh
    tests/controlplane/build.sh
} >&2
PYTHONPATH=tests exec python3 tests/bench/bench.py "${arguments[@]}"
