# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: nothing but to run: the host looks for ports that are open meanwhile
# matters: bytedance/SandboxFusion#80: the service listened on every interface
# source: S12
# expect: Completed
import time

time.sleep(0.3)
