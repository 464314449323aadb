# SPDX-License-Identifier: Apache-2.0
"""Which of these tests are run for which kind of sandbox (helpers/kinds.py): all for each."""

KINDS = ("fresh", "forked")
OWN_POOLS = True

LEFT_OUT = {
    "fresh": {"test_fork.*": "it chooses its kind by itself"},
    "forked": {"test_apart.TestImage.*": "what is forked has these as its siblings do (SECURITY.md)"},
}
SHARE = {}
