# SPDX-License-Identifier: Apache-2.0
# family: terminal
# tries: control sequences in the text of an exception and in its source line
# matters: the traceback quotes what the program has written
# expect: Error
# host: terminal
name = "\x1b[2J\x1b]0;forged\x07"
raise RuntimeError(name + "\x9b2J")
