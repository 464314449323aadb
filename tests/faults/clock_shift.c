/* SPDX-License-Identifier: Apache-2.0 */

/*
 * To be preloaded (LD_PRELOAD): the wall clock of this process is off by as many seconds as stand
 * in the file that CLOCK_SHIFT_FILE names, eight bytes in the machine's order, at every moment.
 * Other clocks go right, as they do when an administrator sets the time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static const volatile int64_t *shift;

static __attribute__((constructor)) void open_shift(void)
{
    const char *path = getenv("CLOCK_SHIFT_FILE");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *file = fd >= 0 ? mmap(NULL, sizeof(*shift), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    /* A test that shifts nothing would prove nothing. */
    if (file == MAP_FAILED)
        abort();
    (void)close(fd);
    shift = file;
}

static int read_clock(clockid_t id, struct timespec *ret_time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int r = real(id, ret_time);
    if (r == 0 && shift && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        ret_time->tv_sec += *shift;
    return r;
}

EXPORTED int clock_gettime(clockid_t id, struct timespec *ret_time)
{
    return read_clock(id, ret_time);
}

EXPORTED int gettimeofday(struct timeval *restrict ret_time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    int r = read_clock(CLOCK_REALTIME, &now);
    *ret_time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return r;
}

EXPORTED time_t time(time_t *ret_time)
{
    struct timespec now;
    if (read_clock(CLOCK_REALTIME, &now) < 0)
        return (time_t)-1;
    if (ret_time)
        *ret_time = now.tv_sec;
    return now.tv_sec;
}
