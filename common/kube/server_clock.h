/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * What the API server's clock shows, by the Date header of its last answer and the monotonic time
 * that has passed since: for the age of what it has dated, which our own clock says nothing of.
 */
struct server_clock {
    int64_t date_us; /* since 1970; 0: nothing was heard */
    uint64_t heard_ns;
};

/* Takes the line of a header; any but a Date that makes sense is ignored. */
void server_clock_hear(struct server_clock *clock, const char *line, size_t len,
                       uint64_t monotonic_ns);

/* What to date something by that others will take the age of: our own clock, wall_us, which has
 * parts of a second, as long as it agrees with the server's; else that, unless it is 0. */
int64_t server_clock_date_us(int64_t server_us, int64_t wall_us);

/* Behind by less than a second, since a Date has whole ones; 0: nothing was heard. */
int64_t server_clock_now_us(const struct server_clock *clock, uint64_t monotonic_ns);
