#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# From a clean Debian to the first SandboxRun: packages, a release build, a Python root file
# system, and examples/hello.yaml in a jail. Every step is skipped when it has nothing to do.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = "-h" ] || [ "${1:-}" = "--help" ]; then
    echo "usage: sudo ./hack/quickstart.sh   (installs, builds, runs examples/hello.yaml)"
    exit 0
fi
if [ "$#" -gt 0 ]; then
    echo "quickstart.sh: unexpected argument '$1'" >&2
    exit 2
fi
if [ "$(id -u)" != 0 ]; then
    echo "quickstart.sh: needs root to install packages and to make a jail: sudo ./hack/quickstart.sh" >&2
    exit 1
fi

started=$SECONDS
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# The build belongs to whoever owns the tree, so that later builds need no root.
owner=$(stat -c %u .)
group=$(stat -c %g .)
as_owner() {
    if [ "$owner" != 0 ]; then
        setpriv --reuid="$owner" --regid="$group" --clear-groups "$@"
    else
        "$@"
    fi
}

step() {
    local number=$1 text=$2
    shift 2
    local from=$SECONDS
    printf '[%s/4] %s ... ' "$number" "$text" >&2
    if ! "$@" >"$log" 2>&1; then
        printf 'failed\n' >&2
        tail -n 40 "$log" >&2
        exit 1
    fi
    printf 'done (%s s)\n' "$((SECONDS - from))" >&2
    sed -nE 's/^([a-z-]+: )?((warning|note): )/      \2/Ip' "$log" >&2
}

# One chain, since -e does not count below the `if` of step().
build() {
    # What was built there as root, such as by hack/test.sh, would be in the owner's way.
    mkdir -p build/release && chown -h "$owner:$group" build &&
        chown -hR "$owner:$group" build/release &&
        as_owner cmake --preset release &&
        as_owner cmake --build --preset release --target programs
}

step 1 "installing what the build needs" ./hack/deps.sh build
step 2 "building the release" build
step 3 "making the Python root file system" ./hack/make-runtime.sh
printf '[4/4] running examples/hello.yaml in a jail\n\n' >&2

build/release/bin/sandboxrun run examples/hello.yaml
printf '\n' >&2
build/release/bin/sandboxrun run -o yaml examples/hello.yaml
printf '\nReady after %s s. Next: sudo build/release/bin/sandboxrun run examples/traceback.yaml\n' \
    "$((SECONDS - started))" >&2
