# SPDX-License-Identifier: Apache-2.0
# family: known-holes
# tries: nothing but to start, with no network at all
# matters: langgenius/dify-sandbox#187 and brightwang/dify-sandbox-use-check-permissions#8: the
#   service installed packages at its start and looped without a network
# source: E6, E7
# expect: soft
import importlib.util

from attempt import refused, through

if importlib.util.find_spec("pip"):
    through("an installer is there")
refused("soft")
