# SPDX-License-Identifier: Apache-2.0
# family: deadline
# tries: computes for ever
# matters: the simplest way to stay
# timeout: 1
# expect: DeadlineExceeded
while True:
    pass
