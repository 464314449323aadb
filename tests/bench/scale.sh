#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Measures the control plane at its sizes on this machine and prints figures; fails on no figure.
set -euo pipefail
cd "$(dirname "$0")/../.."

# What it says and does is in scale.py; nothing has to be built for that.
for arg in "$@"; do
    case "$arg" in -h | --help) PYTHONPATH=tests exec python3 tests/bench/scale.py --help ;; esac
done

{
    ./hack/deps.sh test
    cmake --preset release
    cmake --build --preset release --target sandboxrun-controller
    tests/controlplane/build.sh
} >&2
PYTHONPATH=tests exec python3 tests/bench/scale.py "$@"
