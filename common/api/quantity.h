/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Kubernetes quantities ("500m", "1", "128Mi", "1e3"): resource.Quantity of apimachinery.
 * Fractions below the unit are rounded up, as the API server does. -EINVAL, -ERANGE. */
int quantity_parse_bytes(const char *text, uint64_t *ret_bytes);
int quantity_parse_milli(const char *text, uint64_t *ret_milli);

#define QUANTITY_TEXT_SIZE 32

/* The shortest exact text: "512Mi", "1500m", "1". */
void quantity_format_bytes(uint64_t bytes, char ret_text[static QUANTITY_TEXT_SIZE]);
void quantity_format_milli(uint64_t milli, char ret_text[static QUANTITY_TEXT_SIZE]);
