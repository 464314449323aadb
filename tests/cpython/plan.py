# SPDX-License-Identifier: Apache-2.0
"""Cuts the suite into pieces that a sandbox has time for. Pure functions on lists.

An item is what program.py takes for one: a file of tests or some methods of it. A chunk is a list
of items that one sandbox runs one after the other.
"""

# A chunk as long as this outside the jail leaves room for slower hardware inside, and for the
# machine's other work, until the sandbox's own deadline.
CHUNK_SECONDS = 20
# Before a file's first test: an interpreter, the test package, the file itself.
START_SECONDS = 0.5
# Longer than any test takes, shorter than a sandbox's time.
SILENCE_SECONDS = 45
SHORT_SILENCE_SECONDS = 5
HANGS = 2
# Into so many parts the rest of a file is cut after that, since they mostly wait.
PARTS = 6
KILLED = -9


def make_item(file, **which):
    return {"file": file, "silenceSeconds": SILENCE_SECONDS, **which}


def is_test(name):
    """Not what unittest reports in the place of a test: `setUpClass (test.test_x.Y)`."""
    return " " not in name and not name.startswith("unittest.loader.")


def items_of_file(file, tests, seconds):
    """(item, seconds) of one file: itself, or groups of its methods if it takes too long.

    `tests` are (id, seconds) in the order in which they run.
    """
    tests = [(name, took) for name, took in tests if is_test(name)]
    if seconds <= CHUNK_SECONDS or len(tests) < 2:
        return [(make_item(file), seconds)]
    # What no method accounts for belongs to fixtures of classes and modules.
    surplus = max(0, seconds - sum(took for _, took in tests)) / len(tests)
    items = []
    names, total = [], START_SECONDS
    for name, took in tests:
        if names and total + took + surplus > CHUNK_SECONDS:
            items.append((make_item(file, match=names), total))
            names, total = [], START_SECONDS
        names.append(name)
        total += took + surplus
    items.append((make_item(file, match=names), total))
    return items


def chunks(items):
    """Packs (item, seconds) in their order into chunks; the longest chunk first."""
    packed, current, total = [], [], 0
    for item, seconds in items:
        if current and total + seconds > CHUNK_SECONDS:
            packed.append((total, current))
            current, total = [], 0
        current.append(item)
        total += seconds
    if current:
        packed.append((total, current))
    return [chunk for _, chunk in sorted(packed, key=lambda pair: -pair[0])]


def class_of(name):
    return name.rpartition(".")[0]


def split_by_class(names, n):
    """Up to n lists of the names; those of a class, which share fixtures, stay together."""
    classes = {}
    for name in names:
        classes.setdefault(class_of(name), []).append(name)
    parts = [[] for _ in range(n)]
    for names_of_class in classes.values():
        min(parts, key=len).extend(names_of_class)
    return [part for part in parts if part]


def rest_of(item, outcome, hung):
    """Items for what is left of an item that was stopped; `hung` if for want of progress.

    Without a network whole classes hang. So the others of a class get little time, and after some
    hangs in a file so does all the rest, in parts.
    """
    left = [name for name in outcome.planned
            if is_test(name) and name not in outcome.tests and name != outcome.running
            and class_of(name) != outcome.fixture]
    hangs = item.get("hangs", 0) + hung
    patience = SILENCE_SECONDS if hangs < HANGS else SHORT_SILENCE_SECONDS
    apart = class_of(outcome.running) if hung and outcome.running else None
    mates = [name for name in left if class_of(name) == apart]
    others = [name for name in left if class_of(name) != apart]
    parts = split_by_class(others, PARTS if hung and hangs == HANGS else 1)
    return [{"file": item["file"], "match": names, "silenceSeconds": seconds, "hangs": hangs}
            for names, seconds in [*((part, patience) for part in parts),
                                   (mates, SHORT_SILENCE_SECONDS)] if names]


def lost_with(item, outcome):
    """[(item, test)] of what was stopped with an item and isn't worth another try."""
    if outcome.running is not None:
        return [(item, outcome.running)]
    return [(item, name) for name in outcome.planned if class_of(name) == outcome.fixture]


def follow_up(chunk, outcomes, end):
    """What to do after a chunk: (chunks still to run, [(item, test)] that came to no end).

    `outcomes` say of each item that began which tests were `planned`, which `tests` ended, which
    was `running` when its process or the whole was stopped, or else which class was being set up
    (`fixture`), and the `status` of the process if that had ended. What was at work when its
    process died is lost. A test that was running when the sandbox ended runs alone; if it was
    alone, it is lost. The test None stands for the whole item. Each chunk handed back has fewer
    tests than this one, so there is an end to it.
    """
    again, lost = [], []
    for item, outcome in zip(chunk, outcomes):
        if outcome.status == KILLED or (outcome.status is not None and outcome.running is not None):
            again += [[rest] for rest in rest_of(item, outcome, outcome.status == KILLED)]
            lost += lost_with(item, outcome)
    n_ended = sum(outcome.status is not None for outcome in outcomes)
    if end == "Completed" or n_ended == len(chunk):
        return again, lost
    if behind := chunk[n_ended + 1:]:
        again.append(behind)
    item = chunk[n_ended]
    broken = outcomes[n_ended] if n_ended < len(outcomes) else None
    if broken is None or not (broken.tests or broken.running or broken.fixture):
        # Not one test came to its end. Alone it may.
        if len(chunk) > 1:
            again.append([item])
        else:
            lost.append((item, None))
        return again, lost
    again += [[rest] for rest in rest_of(item, broken, end == "DeadlineExceeded")]
    if broken.running is not None and item.get("match") != [broken.running]:
        again.append([make_item(item["file"], match=[broken.running])])
    else:
        lost += lost_with(item, broken)
    return again, lost
