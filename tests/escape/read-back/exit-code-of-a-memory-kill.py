# SPDX-License-Identifier: Apache-2.0
# family: read-back
# tries: exits with 137, the code of a run that was ended at its memory limit
# matters: the reason must come from whoever ended it, not from a number
# expect: Error
raise SystemExit(137)
