# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: leaves a tree of directories deeper than a path may be long
# matters: whoever walks or removes it by paths fails or recurses too deep
# expect: Completed
import os

os.chdir("/tmp")
for _ in range(3000):
    os.mkdir("d")
    os.chdir("d")
