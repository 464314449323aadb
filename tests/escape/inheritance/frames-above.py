# SPDX-License-Identifier: Apache-2.0
# family: inheritance
# tries: walks the frames above its program and all objects of the interpreter for a secret
# matters: the runner's variables hold what came in
# expect: nothing found
import gc
import sys

from attempt import SECRET, refused, through

def has_secret(value):
    if isinstance(value, bytes):
        value = value.decode("latin-1")
    text = SECRET.decode()
    # Sixteen digits follow in a secret; the search pattern itself has none.
    return isinstance(value, str) and any(part[:16].isalnum() and len(part) >= 16
                                          for part in value.split(text)[1:])


frame = sys._getframe()
seen = 0
while frame:
    for name, value in {**frame.f_globals, **frame.f_locals}.items():
        seen += 1
        if has_secret(value):
            through(name)
    frame = frame.f_back
for held in gc.get_objects():
    for part in gc.get_referents(held):
        seen += 1
        if has_secret(part):
            through(f"in a {type(held).__name__}")
if seen < 10000:
    raise SystemExit(f"saw only {seen} objects")
refused("nothing found")
