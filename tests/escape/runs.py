# SPDX-License-Identifier: Apache-2.0
"""Calls of the command line for attempts: many documents a call, on a terminal, as YAML."""

import json
import os
import pty
import select
import subprocess
import tempfile

from helpers.local import RUNTIMES, document, program

CALL_TIMEOUT_S = 240


def arguments(outside, *rest):
    return [program("sandboxrun"), "run", "--jailer", outside.jailer, "--runtimes-dir", RUNTIMES,
            *rest, "-"]


def documents(outside, attempts, before=()):
    """All documents of a call as one text: those before, then one for each attempt."""
    made = [*before, *(document(name=f"a{number}", **attempt.spec(outside.canaries))
                       for number, attempt in enumerate(attempts))]
    return "\n---\n".join(map(json.dumps, made))


def call(outside, text, *rest):
    done = subprocess.run(arguments(outside, *rest), input=text, capture_output=True, text=True,
                          errors="replace", timeout=CALL_TIMEOUT_S)
    if not done.stdout:
        raise AssertionError(f"no object came back ({done.returncode}): {done.stderr}")
    return done


def statuses(outside, text, parallel):
    """The status of each document of the text, in order."""
    done = call(outside, text, "--parallel", str(parallel), "-o", "json")
    found = json.loads(done.stdout)
    items = found["items"] if "items" in found else [found]
    # Of one that never ran the jailer and the resolver have more to say.
    return [item["status"] | ({"stderr": done.stderr}
                              if item["status"].get("reason") == "SandboxSetupFailed" else {})
            for item in items]


def on_terminal(outside, text, *rest):
    """What a terminal gets from a call whose output and messages go there, in bytes."""
    master, slave = pty.openpty()
    try:
        with tempfile.TemporaryFile() as file:
            file.write(text.encode())
            file.seek(0)
            process = subprocess.Popen(arguments(outside, *rest), stdin=file, stdout=slave,
                                       stderr=slave, start_new_session=True)
        os.close(slave)
        slave = None
        shown = b""
        while select.select([master], [], [], CALL_TIMEOUT_S)[0]:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end has gone
                break
            shown += part
        process.wait()
        return shown
    finally:
        os.close(master)
        if slave is not None:
            os.close(slave)


def control_bytes(shown):
    """What a terminal would obey: control characters but line ends and tabs, raw C1 bytes, and
    what isn't UTF-8."""
    text = shown.decode("utf-8", errors="surrogateescape")
    return sorted({f"U+{ord(char):04X}" for char in text
                   if (ord(char) < 32 and char not in "\n\r\t") or 0x7F <= ord(char) < 0xA0
                   or 0xDC80 <= ord(char) <= 0xDCFF})
