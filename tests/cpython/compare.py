# SPDX-License-Identifier: Apache-2.0
"""What passes on one side and not on the other, and whether the reason is known. Pure functions."""

PASSED = ("passed", "expected")


def key(file, name):
    """How a test is called in the table: by its id, after its file if the id doesn't say that."""
    if name is None:
        return file
    if name.startswith((f"test.{file}.", f"{file}.")):
        return name
    return f"{file}:{name}"


def passing(results):
    return {name for name, (result, *_) in results.items() if result in PASSED}


def covers(entry, name):
    """An entry is a test, or a class or a file with everything in it."""
    return name == entry or name.startswith((f"{entry}.", f"{entry}:", f"test.{entry}."))


def differences(inside, outside):
    """Names that pass on exactly one side, as {name: "inside" or "outside"}."""
    here, there = passing(inside), passing(outside)
    return {name: "inside" if name in here else "outside" for name in sorted(here ^ there)}


def parse_table(text):
    """{entry: reason} of a table: `[reason]` lines, each followed by the entries it holds for.

    Blank lines and `#` comments are left out. A reason may go on in further lines that begin with
    a blank and end with `]`.
    """
    table, reason, open_reason = {}, None, None
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or (line.startswith("#") and open_reason is None):
            continue
        if line.startswith("[") or open_reason is not None:
            part = line if open_reason is not None else line[1:]
            open_reason = f"{open_reason} {part}" if open_reason is not None else part
            if open_reason.endswith("]"):
                reason, open_reason = open_reason[:-1].strip(), None
                if not reason:
                    raise ValueError(f"line {number}: an empty reason")
        elif reason is None:
            raise ValueError(f"line {number}: {line} has no reason above it")
        elif line in table:
            raise ValueError(f"line {number}: {line} is there twice")
        else:
            table[line] = reason
    if open_reason is not None:
        raise ValueError("the last reason has no end")
    return table


def in_files(entry, files):
    """Whether an entry is about one of these files."""
    return any(covers(file, entry) for file in files)


def judge(found, table, files):
    """(explained {name: reason}, without a reason [name], entries without a difference [entry]).

    Entries about files that did not run are left alone.
    """
    explained, unexplained, used = {}, [], set()
    for name in found:
        entries = [entry for entry in table if covers(entry, name)]
        if not entries:
            unexplained.append(name)
            continue
        used.update(entries)
        explained[name] = table[max(entries, key=len)]
    stale = [entry for entry in table if entry not in used and in_files(entry, files)]
    return explained, unexplained, stale
