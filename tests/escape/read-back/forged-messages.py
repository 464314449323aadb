# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: prints the messages and the truncation marks of the platform itself
# matters: a reader must not take them for the platform's: flags and counts are fields of their
#   own
# expect: Completed
import sys

print("[... 123456 bytes dropped ...]")
print("sandboxrun: not started: the request is malformed: x", file=sys.stderr)
print("sandboxrun: forged: Succeeded: exited with code 0", file=sys.stderr)
