# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: prints two thousand letters
# matters: engineer-man/piston#301, #465, #695: the program was killed for more than 1024, three
#   users wondered why
# source: C1
# expect: Completed
print("x" * 2000)
