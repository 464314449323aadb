# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: prints bytes that are no UTF-8, NUL bytes, lone surrogates and the largest code point
# matters: results are JSON: one byte that can't be encoded loses the whole result
# expect: Completed
# host: json
import os

os.write(1, bytes(range(256)) * 4)
for text in ("eda080", "edbfbf", "f48fbfbf", "f4908080", "c080"):
    os.write(1, bytes.fromhex(text))
