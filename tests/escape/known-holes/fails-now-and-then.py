# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: two hundred short programs one after the other
# matters: langgenius/dify#13147: 2 of 330 calls failed for no reason that was told
# source: E8
# timeout: 30
# expect: soft
import subprocess

from attempt import refused

for _ in range(200):
    if (code := subprocess.run(["true"]).returncode) != 0:
        raise SystemExit(f"one ended with {code}")
refused("soft")
