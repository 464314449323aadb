# SPDX-License-Identifier: Apache-2.0
"""Waiting for what others do in their own time."""

import time

from helpers.local import PATIENCE


def wait_until(what, probe, timeout=20.0, interval=0.02):
    """Calls probe until it gives something true; that. Fails with `what` after the time-out, which
    is longer where the machine is emulated."""
    timeout *= PATIENCE
    end = time.monotonic() + timeout
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"waited {timeout} s in vain for {what}")
        time.sleep(interval)
