/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/zygote/zygote_image.h"

#define IMAGE(name, file)                                                                          \
    __asm__(".pushsection .rodata, \"a\"\n"                                                        \
            ".balign 16\n"                                                                         \
            ".globl " name "\n"                                                                    \
            ".hidden " name "\n" name ":\n"                                                        \
            ".incbin \"" file "\"\n"                                                               \
            "1:\n"                                                                                 \
            ".balign 8\n"                                                                          \
            ".globl " name "_size\n"                                                               \
            ".hidden " name "_size\n" name "_size:\n"                                              \
            ".quad 1b - " name "\n"                                                                \
            ".popsection\n")

IMAGE("zygote_image", ZYGOTE_IMAGE_FILE);
IMAGE("reaper_image", REAPER_IMAGE_FILE);
