# SPDX-License-Identifier: Apache-2.0
"""What an attempt has come to, from its head and the status of its run. No effects."""

from corpus import REASONS

REFUSED, THROUGH, UNCLEAR = "refused", "through", "unclear"
MAX_DETAIL = 1500


class Verdict:
    """kind is one of the three; met is the refusal in a few words; detail is for a failure."""

    def __init__(self, kind, met, detail=""):
        self.kind, self.met, self.detail = kind, met, detail

    def __repr__(self):
        return f"Verdict({self.kind}, {self.met!r})"


def said(status):
    """The attempt's own words: [(REFUSED or THROUGH, text)]."""
    found = []
    for line in status.get("stdout", "").split("\n"):
        for mark, kind in (("REFUSED ", REFUSED), ("THROUGH ", THROUGH)):
            if line.startswith(mark):
                found.append((kind, line[len(mark):].strip()))
    return found


def describe(status):
    text = f"{status.get('reason')}: {status.get('message')}"
    for stream in ("stdout", "stderr"):
        if status.get(stream):
            text += f"\n{stream}: {status[stream][-MAX_DETAIL:]}"
    return text


def judge(attempt, status, secrets=()):
    """secrets: texts that nobody inside may know; where one comes out, it has got through."""
    output = status.get("stdout", "") + status.get("stderr", "")
    for secret in secrets:
        if secret in output:
            return Verdict(THROUGH, "a secret", describe(status))
    words = said(status)
    for kind, text in words:
        if kind == THROUGH:
            return Verdict(THROUGH, text, describe(status))

    reason = status.get("reason", "")
    wanted_reasons = [word for word in attempt.expect if word in REASONS]
    if reason in wanted_reasons:
        return Verdict(REFUSED, reason)
    if reason != "Completed" or not words:
        return Verdict(UNCLEAR, reason or "no status", describe(status))
    met = [word.strip() for _, text in words for word in text.split(",")]
    strange = [word for word in met if word not in attempt.expect]
    if strange:
        return Verdict(UNCLEAR, ", ".join(strange),
                       f"refused by {', '.join(met)}, which isn't what the attempt expects")
    return Verdict(REFUSED, ", ".join(sorted(set(met))))
