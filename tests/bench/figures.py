# SPDX-License-Identifier: Apache-2.0
"""What is made of samples."""


def quantile(values, q):
    ordered = sorted(values)
    return ordered[round((len(ordered) - 1) * q)]


def summary(nanoseconds):
    return {name: round(quantile(nanoseconds, q) / 1e6, 3)
            for name, q in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}
