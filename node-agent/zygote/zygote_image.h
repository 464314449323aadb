/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* The file of the module, as it goes into a zygote's own file system: of the jailer's very build,
 * whatever the runtime. */
extern const char zygote_image[];
extern const char zygote_image_end[];
