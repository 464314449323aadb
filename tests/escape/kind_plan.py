# SPDX-License-Identifier: Apache-2.0
"""Which attempts are run in which kind of sandbox (helpers/kinds.py)."""

KINDS = ("cold", "fresh", "forked")
OWN_POOLS = False

# What says nothing about a sandbox that has waited, by pattern, each with its reason.
OF_WAITING = {
    "* as ToolCall": "ToolCall is never pooled",
    "test_corpus.*": "the attempts' files are the same",
    "test_page.*": "the page is the same",
    "test_sweep.*": "the policy is the same; the sweep itself runs",
    "test_verdict.*": "a decision without a run",
}
LEFT_OUT = {"fresh": OF_WAITING, "forked": OF_WAITING}

# What an ordinary run has of them, since it can differ from kind to kind; the others stand behind the
# same filter, with the same limits around them. Of what has waited: what was changed when a run took
# it, and what it could hold of the time before.
OF_TAKING = {
    "cgroups/[!p]*": "its limits were changed when it was taken",
    "inheritance/*": "what it was born with: memory, descriptors, environment, signals",
    "mounts/re*": "its file systems were resized from outside",
    "known-holes/same-random-numbers": "what is drawn before, or as others do",
}
# Besides, of what is forked: all that another program has done before.
OF_BIRTH = OF_TAKING | {
    "core-dumps/*": "RLIMIT_CORE was set on what goes on, not on a new program",
    "limits-of-process-1/*": "process 1 is another program",
    "mounts/*": "its root was entered before it was",
    "namespaces/[isl]*": "who forks could share them",
    "other-processes/*": "whoever has forked it is a process too",
    "privileges/*": "rights of whoever has forked it",
    "proc-and-sys/*": "its own /proc, which another has mounted",
    "known-holes/c*": "code before the locks, credentials of who has made it",
    "sweep/*": "the filter was loaded into another program",
    "system-calls/*": "the same",
}
SHARE = {"fresh": OF_TAKING, "forked": OF_BIRTH}
