/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/zygote/zygote_image.h"

__asm__(".pushsection .rodata, \"a\"\n"
        ".balign 16\n"
        ".globl zygote_image\n"
        ".hidden zygote_image\n"
        "zygote_image:\n"
        ".incbin \"" ZYGOTE_IMAGE_FILE "\"\n"
        "1:\n"
        ".balign 8\n"
        ".globl zygote_image_size\n"
        ".hidden zygote_image_size\n"
        "zygote_image_size:\n"
        ".quad 1b - zygote_image\n"
        ".popsection\n");
