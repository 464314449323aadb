#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes docs/escape-attempts.md out of the heads of the attempts.

    page.py            writes the page
    page.py --check    exit status 1 if the page isn't what would be written
"""

import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import corpus  # noqa: E402
import sweep  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(corpus.HERE))
PAGE = os.path.join(ROOT, "docs/escape-attempts.md")

HEAD = """# Escape attempts

<!-- Made by tests/escape/page.py out of the attempts themselves. -->

What code in a sandbox has been made to try, and the refusal that it must meet each time.
{by_hand} attempts are programs of their own below [`tests/escape`](../tests/escape). Besides them
every system call number from 0 to {last} and some beyond is called by each entry of the processor
with invalid arguments, and once more for each rule of the policy that has conditions; each such
call counts as an attempt.

| entry | what must come of a call |
|---|---|
{entries}

`sudo ./hack/test.sh escape` runs all of them on this machine in sandboxes of profile Snippet, and
those as ToolCall too that a network or a longer list of calls could help, and in sandboxes that have
waited for their run those that could find it different; with `--full` all of them as both, and in
each kind of sandbox. The last line but one says how many were tried and how many got through. `tests/escape/by_hand.py FILE` runs
one. What is known to be possible and accepted stands in [SECURITY.md](../SECURITY.md).

An attempt's own word isn't enough: processes that run under the very kernel uids of the sandboxes,
files that everybody may read and write, listening sockets, settings of the kernel and a neighbour
sandbox stand outside, and after each family all of them must be as they were, with nothing left
behind. A secret that only they hold may appear in no output.

How a refusal reads:

| | |
|---|---|
| `EPERM`, `ENOENT`, ... | the system call fails with this error |
| `SIGSYS`, `SIGSEGV`, ... | the process that made the call is ended by this signal |
{words}
"""

FAMILY = """
## {title}

{about}

| attempt | tries | why it matters | must meet |
|---|---|---|---|
{rows}
"""

KINDS = {"x86-64": "what the policy of the profile, [`snippet.json`](../seccomp/snippet.json) or "
                   "[`tool-call.json`](../seccomp/tool-call.json), says for the number and its "
                   "arguments",
         "arm64": "what the file says",
         "x32": "the process is ended", "i386": "the process is ended"}


def cell(text):
    return text.replace("|", "\\|")


def row(attempt):
    link = f"[{attempt.name}](../tests/escape/{attempt.family}/{attempt.name}.py)"
    wanted = ", ".join(attempt.expect)
    if "toolcall" in attempt.head:
        wanted += "; as ToolCall " + ", ".join(attempt.expected_as(corpus.TOOL_CALL))
    elif not attempt.is_for(corpus.TOOL_CALL):
        wanted += "; not tried as ToolCall"
    cells = (attempt.head["tries"], attempt.head["matters"], wanted)
    return f"| {link} | {' | '.join(map(cell, cells))} |"


def render():
    families = corpus.load()
    entries = "\n".join(f"| {entry}: {about} | {KINDS[entry]} |"
                        for entry, about in sweep.ENTRIES.items())
    words = "\n".join(f"| {word} | {meaning} |"
                      for word, meaning in {**corpus.WORDS, **corpus.REASONS}.items())
    page = HEAD.format(by_hand=sum(map(len, families.values())),
                       last=max(sweep.table("x86_64")), entries=entries, words=words)
    for family, title, about in corpus.FAMILIES:
        page += FAMILY.format(title=title, about=about, rows="\n".join(map(row, families[family])))
    return page


def main(arguments):
    if arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 2
    text = render()
    if arguments:
        return 0 if is_current(text) else 1
    os.makedirs(os.path.dirname(PAGE), exist_ok=True)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(text)
    return 0


def is_current(text):
    try:
        with open(PAGE, encoding="utf-8") as file:
            return file.read() == text
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
