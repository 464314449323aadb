/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Whole numbers of a double are exact up to this magnitude: above, two texts may read as one. */
#define MAX_EXACT_INTEGER 9007199254740991.0

#define NUMBER_TEXT_SIZE 32

/* The shortest decimal text that reads back as the same finite double; whole numbers up to
 * MAX_EXACT_INTEGER without exponent. -EINVAL for NaN and infinities. */
int number_format(double value, char ret_text[static NUMBER_TEXT_SIZE]);
