# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: draws random numbers by every generator, to be compared with those of another run
# matters: mitos-run/mitos#882: three sandboxes forked from one interpreter drew the same
# source: S11
# host: twice
# expect: different
import hashlib
import os
import random
import secrets
import tempfile
import uuid

from attempt import refused

print("DRAWN random", random.random())
print("DRAWN secrets", secrets.token_hex(8))
print("DRAWN urandom", os.urandom(8).hex())
print("DRAWN uuid4", uuid.uuid4())
print("DRAWN system", random.SystemRandom().random())
print("DRAWN name", tempfile.mktemp())
try:
    import ssl
    print("DRAWN ssl", ssl.RAND_bytes(8).hex())
except ImportError:
    pass
print("DRAWN hash of a string", hash("sandboxrun"))
print("DRAWN address", hashlib.sha256(open("/proc/self/maps", "rb").read()).hexdigest())
refused("different")
