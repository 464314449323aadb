# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: writes where matplotlib and others keep their caches
# matters: langgenius/dify#20077: matplotlib needs a directory to write to
# source: E5
# expect: soft
import os
import tempfile

from attempt import refused

for path in (os.environ["MPLCONFIGDIR"], os.path.expanduser("~/.cache/x"), tempfile.gettempdir()):
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "cache"), "wb") as file:
        if file.write(b"x") != 1:
            raise SystemExit(f"nothing can be written to {path}")
refused("soft")
