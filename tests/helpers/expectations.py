# SPDX-License-Identifier: Apache-2.0
"""What the examples expect of their own end, from the comments at their head.

    expected = expectations.load("examples/hello.yaml")
    end = expected.check(testcase, status)           # the end that it was: 0, or 1 after `or:`, ...
    expected.check_cli_exit(testcase, returncode, end)

The lines are described in examples/README.md. A line that can't be read is an error: an expectation
must not get lost by a typing mistake.
"""

import re

LINE = re.compile(r"^#\s*(expect(?:-[a-z-]+)?|or):(.*)$")
ALMOST = re.compile(r"^#\s*(expect|or\b\s*:)", re.IGNORECASE)
TERM = re.compile(r"([A-Za-z][A-Za-z0-9.]*)(>=|<=|=)(\S+)")
PATTERNS = {"expect-stdout": "stdout", "expect-stderr": "stderr", "expect-message": "message"}
REQUIRED = ("phase", "reason", "exitCode")
COMPARE = {
    "=": lambda found, wanted: found == wanted,
    ">=": lambda found, wanted: isinstance(found, int) and found >= wanted,
    "<=": lambda found, wanted: isinstance(found, int) and found <= wanted,
}


class ExpectationError(Exception):
    """The head of an example can't be read."""


def value_of(text):
    """true and false, whole numbers, and else the text itself: as in a status."""
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"-?[0-9]+", text) else text


def field_of(status, path):
    for name in path.split("."):
        if not isinstance(status, dict) or name not in status:
            return None
        status = status[name]
    return status


class End:
    """One way in which an example may end."""

    def __init__(self):
        self.terms = []
        self.patterns = []
        self.cli_exit = None

    def add(self, key, text):
        if key == "expect":
            for term in text.split():
                match = TERM.fullmatch(term)
                if not match:
                    raise ExpectationError(f"not FIELD=VALUE: {term}")
                path, operator, value = match.groups()
                self.terms.append((path, operator, value_of(value)))
        elif key in PATTERNS:
            try:
                pattern = re.compile(text, re.MULTILINE | re.DOTALL)
            except re.error as error:
                raise ExpectationError(f"not a regular expression: {text}: {error}") from None
            self.patterns.append((PATTERNS[key], pattern))
        elif key == "expect-cli-exit" and re.fullmatch(r"[0-9]{1,3}", text):
            self.cli_exit = int(text)
        else:
            raise ExpectationError(f"unknown expectation {key}: {text}")

    def complete(self):
        fixed = [path for path, operator, _ in self.terms if operator == "="]
        missing = [path for path in REQUIRED if path not in fixed]
        if missing or self.cli_exit is None:
            raise ExpectationError(f"an end needs {', '.join(REQUIRED)} and expect-cli-exit")

    def differences(self, status):
        found = []
        for path, operator, wanted in self.terms:
            value = field_of(status, path)
            if wanted is False and value is None:
                continue
            # A boolean is an int to Python, and 1 is no "true".
            if isinstance(value, bool) != isinstance(wanted, bool) or \
                    not COMPARE[operator](value, wanted):
                found.append(f"{path}: {value!r} is not {operator} {wanted!r}")
        for path, pattern in self.patterns:
            text = status.get(path) or ""
            if not pattern.search(text):
                found.append(f"{path}: {excerpt(text)} has no /{pattern.pattern}/")
        return found


def excerpt(text, limit=600):
    if len(text) <= limit:
        return repr(text)
    return f"{text[:limit // 2]!r} ... {text[-limit // 2:]!r}"


class Expectation:
    def __init__(self, path, ends):
        self.path = path
        self.ends = ends

    def check(self, testcase, status):
        """Fails the test if status is none of the ends; else the number of the one that it is."""
        differences = [end.differences(status) for end in self.ends]
        for number, found in enumerate(differences):
            if not found:
                return number
        lines = "\n  or:\n".join("\n".join(f"  {line}" for line in found) for found in differences)
        return testcase.fail(f"{self.path} ended otherwise than it says:\n{lines}\n"
                             f"  message: {status.get('message')!r}\n"
                             f"  stderr: {excerpt(status.get('stderr', ''))}")

    def check_cli_exit(self, testcase, code, end=0):
        testcase.assertEqual(code, self.ends[end].cli_exit, f"exit status for {self.path}")


def parse(text, path="-"):
    ends = [End()]
    for number, line in enumerate(text.splitlines(), 1):
        if not line.startswith("#"):
            break
        match = LINE.match(line)
        try:
            if match and match.group(1) == "or":
                ends[-1].complete()
                ends.append(End())
            elif match:
                ends[-1].add(match.group(1), match.group(2).strip())
            elif ALMOST.match(line):
                raise ExpectationError("not an expectation, and nearly one")
        except ExpectationError as error:
            raise ExpectationError(f"{path}:{number}: {error}") from None
    try:
        ends[-1].complete()
    except ExpectationError as error:
        raise ExpectationError(f"{path}: {error}") from None
    return Expectation(path, ends)


def load(path):
    with open(path, encoding="utf-8") as file:
        return parse(file.read(), path)
