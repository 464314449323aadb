#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attempts by hand: what was tried, what the run came to, the verdict.

    by_hand.py [--kind=KIND] FILE...

exits with status 0 if all of them were refused and nothing changed outside. KIND is that of the
sandboxes (tests/helpers/kinds.py): cold, unless it is given.
"""

import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import corpus  # noqa: E402
from helpers import kinds  # noqa: E402
from outside import Outside  # noqa: E402
from suite import Family  # noqa: E402
from verdict import REFUSED  # noqa: E402


def tell(attempt, outcome):
    print(f"{attempt.id}: {attempt.head['tries']}")
    print(f"  must meet: {', '.join(attempt.expect)}")
    print(f"  {outcome.kind}: {outcome.met}")
    for line in outcome.detail.splitlines():
        print(f"    {line}")


def main(paths):
    kind = "cold"
    if paths and paths[0].startswith("--kind="):
        kind = paths.pop(0).removeprefix("--kind=")
    if not paths or paths[0].startswith("-") or kind not in kinds.KINDS:
        print(__doc__.strip(), file=sys.stderr)
        return 0 if paths[:1] in (["-h"], ["--help"]) else 2
    attempts = [corpus.load_file(os.path.abspath(path)) for path in paths]
    if os.geteuid() != 0:
        print("needs root to make jails")
        return 1
    if why_not := kinds.KINDS[kind].why_not():
        print(why_not)
        return 1
    with kinds.of_tests(kind):
        return try_all(attempts)


def try_all(attempts):
    bad = 0
    with Outside() as outside:
        for attempt in attempts:
            family = Family(outside, [attempt])
            changes = family.run()
            if attempt.missing():
                print(f"{attempt.id}: not tried: {attempt.missing()}")
                continue
            tell(attempt, family.outcomes[attempt.id])
            for change in changes:
                print(f"  outside: {change}")
            bad += bool(changes) or family.outcomes[attempt.id].kind != REFUSED
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
