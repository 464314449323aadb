# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: `sleep 60 &` and out
# matters: qntx/bux#163: the run ended when the pipe did, not when the program did
# source: B8
# timeout: 5
# expect: Completed
import os
import subprocess

subprocess.Popen(["sleep", "60"])
os.write(1, b"done\n")
