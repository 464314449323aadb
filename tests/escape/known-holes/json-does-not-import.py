# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: imports the modules that a filter has broken elsewhere
# matters: langgenius/dify-sandbox#104: `import json` failed in the stock image
# source: E3
# expect: soft
import importlib

from attempt import refused

for name in ("json", "ssl", "hashlib", "multiprocessing", "sqlite3", "decimal", "ctypes", "asyncio",
             "lzma", "zoneinfo", "uuid", "socket", "http.client", "xml.etree.ElementTree"):
    try:
        importlib.import_module(name)
    except ImportError as error:
        raise SystemExit(f"{name}: {error}") from None
refused("soft")
