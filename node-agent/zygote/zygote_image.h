/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

/* The files that go into a zygote's own file system, of the jailer's very build, whatever the
 * runtime: the module that it loads, and what process 1 of its children executes. */
extern const char zygote_image[];
extern const uint64_t zygote_image_size;
extern const char reaper_image[];
extern const uint64_t reaper_image_size;
