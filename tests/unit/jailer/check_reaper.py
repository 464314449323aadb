# SPDX-License-Identifier: Apache-2.0
"""Fails if the program that process 1 of a forked jail executes is more than it should be: it has no
C library, so nothing may be loaded, looked up or moved when it starts, and it is small.

    check_reaper.py READELF PROGRAM
"""

import os
import re
import subprocess
import sys

MOST_BYTES = 16384


def main():
    readelf, program = sys.argv[1:]
    told = subprocess.run([readelf, "--wide", "--file-header", "--segments", "--relocs", program],
                          check=True, capture_output=True, text=True).stdout
    kinds = re.findall(r"^  ([A-Z_]+) +0x", told, re.MULTILINE)
    if "LOAD" not in kinds or "Type:                              EXEC" not in told:
        sys.exit(f"this is no program at a fixed address: {told}")
    if wrong := {"INTERP", "DYNAMIC", "TLS"} & set(kinds):
        sys.exit(f"it has what a C library would have to start: {wrong}")
    if "There are no relocations" not in told:
        sys.exit("something would have to relocate it")
    flags = re.findall(r"^  (?:LOAD|GNU_STACK) .* ([R ][W ][E ]) +0x", told, re.MULTILINE)
    if not flags or any("W" in flag and "E" in flag for flag in flags):
        sys.exit(f"it has memory that can be written and executed, or no stack: {flags}")
    if (size := os.path.getsize(program)) > MOST_BYTES:
        sys.exit(f"{size} bytes are too many for every zygote's file system")
    print(f"{size} bytes, {len(flags)} segments: nothing to load or to relocate")


main()
