/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/node/jailed_cpu.h"

#include "common/fd.h"
#include "common/parse.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* proc_pid_stat(5): utime, stime, cutime and cstime are the fields 14 to 17; the second is a name
 * in brackets, which may hold anything. */
#define FIRST_FIELD 14
#define LAST_FIELD  17

static uint64_t sum_fields(char *text)
{
    char *field = strrchr(text, ')');
    uint64_t ticks = 0;
    for (unsigned int number = 2; field && number <= LAST_FIELD; number++) {
        char *space = strchr(field, ' ');
        if (space)
            *space = '\0';
        uint64_t value = 0;
        if (number >= FIRST_FIELD && parse_u64(field, 0, UINT64_MAX, &value) >= 0)
            ticks += value;
        field = space ? space + 1 : NULL;
    }
    return ticks;
}

uint64_t jailed_cpu_ns(pid_t jailer)
{
    char path[64], text[1024];
    struct timespec self = {0};
    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)jailer);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &self);
    uint64_t ns = (uint64_t)self.tv_sec * UINT64_C(1000000000) + (uint64_t)self.tv_nsec;
    if (fd_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0)
        ns += sum_fields(text) * UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK);
    return ns;
}
