/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdbool.h>

/* While it is set, files take no bytes. To be linked with --wrap=write and --wrap=posix_fallocate.
 */
extern bool full_disk;
