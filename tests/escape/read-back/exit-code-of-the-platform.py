# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: exits with 124, 125 and 255, the codes of time-outs and platform failures
# matters: the same
# expect: Error
raise SystemExit(255)
