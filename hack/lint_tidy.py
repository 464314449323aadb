#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy over the files of a compile_commands.json, two at a time.

usage: hack/lint_tidy.py COMPILE_COMMANDS CACHE_DIR

A file that was found good is remembered by the content of all that it depends on: clang-tidy's
version, .clang-tidy, its flags and every file of the tree that it includes.
"""
import concurrent.futures
import hashlib
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def flags_of(entry):
    """Macros, include paths and language: other flags are the compiler's own."""
    words = shlex.split(entry["command"])
    kept = []
    for word, following in zip(words, words[1:] + [""]):
        if word in ("-I", "-D", "-isystem", "-include"):
            kept += [word, following]
        elif word.startswith(("-I", "-D", "-std=")):
            kept.append(word)
    return kept


def digest(entry, flags, version):
    """None where the dependencies can't be told; clang-tidy then says why."""
    listing = subprocess.run(["clang", "-MM", *flags, entry["file"]], cwd=entry["directory"],
                             capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        return None
    rule = listing.stdout.replace("\\\n", " ").split(":", 1)[1]
    total = hashlib.sha256(version + repr(flags).encode())
    for path in [ROOT / ".clang-tidy", *rule.split()]:
        total.update(hashlib.sha256(pathlib.Path(entry["directory"], path).read_bytes()).digest())
    return total.hexdigest()


def check(entry, version, cache):
    flags = flags_of(entry)
    key = digest(entry, flags, version)
    if key and (cache / key).exists():
        return ""
    run = subprocess.run(["clang-tidy", "--quiet", entry["file"], "--", *flags],
                         cwd=entry["directory"], capture_output=True, text=True, check=False)
    if run.returncode == 0:
        if key:
            (cache / key).touch()
        return ""
    return run.stdout.strip() or run.stderr.strip() or f"{entry['file']}: clang-tidy failed"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    entries = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    cache = pathlib.Path(sys.argv[2])
    cache.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    files = {entry["file"]: entry for entry in entries
             if entry["file"].endswith(".c") and not generated(entry)}
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        findings = [text for text in pool.map(lambda e: check(e, version, cache), files.values())
                    if text]
    print("\n".join(findings), end="\n" if findings else "")
    sys.exit(1 if findings else 0)


def generated(entry):
    """What a build directory holds is not ours to read."""
    return (ROOT / "build") in pathlib.Path(entry["directory"], entry["file"]).parents


if __name__ == "__main__":
    main()
