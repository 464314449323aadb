#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs CPython's own regression tests in a sandbox and as a plain user, and compares.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
    cat <<TXT
usage: tests/cpython/run.sh [--fast | --full] [--json] [FILE...]

Runs the regression tests of the runtime's own Python (python -m test)
  - inside: as programs of the Snippet profile, by sandboxrun run
  - outside: as uid 65532 without a right and without network, from the same root file system
and prints how many test methods pass inside, how many outside, and every difference with its
reason from tests/cpython/differences.txt. Needs root.

  FILE      files of tests, as python -m test names them; the default is the list in
            tests/cpython/subset.txt, the files that have most to do with the kernel
  --fast    those of that list that are marked as fast, as in CI
  --full    the whole suite
  --json    print one JSON object instead
  -h, --help

Exit status: 0 if every difference has its reason and every reason a difference, 1 if not, 2 for a
wrong option, 3 if the tests could not be run.
TXT
}

for arg in "$@"; do
    case $arg in
    -h | --help) usage; exit 0 ;;
    --fast | --full | --json | test_* | test.*) ;;
    *) echo "run.sh: unknown argument '$arg'; see --help" >&2; exit 2 ;;
    esac
done
if [ "$EUID" -ne 0 ]; then
    echo "run.sh: needs root, to make sandboxes and to enter the runtime" >&2
    exit 3
fi
./hack/make-runtime.sh --with-tests --name python3.12-tests \
    --output "${SANDBOXRUN_RUNTIMES:-build/runtimes}" || exit 3
exec python3 tests/cpython/run.py "$@"
