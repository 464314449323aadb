/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The file of the module, as it goes into a zygote's own file system: of the jailer's very build,
 * whatever the runtime. */
extern const char zygote_image[];
extern const uint64_t zygote_image_size;
