/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/landlock.h"

#include "common/cleanup.h"
#include "node-agent/jailer/mounts.h"

#include <fcntl.h>
#include <sys/syscall.h>

struct place {
    const char *path;
    const char *step;
    uint64_t allowed;
};

/* Rights add up from a file to the root. */
static const struct place places[] = {
    {"/", "allow reading", LANDLOCK_READ},
    /* Which requests there are is the filter's business; isatty(3) is to say ENOTTY. */
    {"/dev", "allow requests to devices", LANDLOCK_IOCTL_DEV},
    {"/tmp", "allow writing to /tmp", LANDLOCK_WRITE},
    {"/dev/shm", "allow writing to /dev/shm", LANDLOCK_WRITE},
    {JAIL_HOME, ("allow writing to " JAIL_HOME), LANDLOCK_WRITE},
    {"/dev/null", "allow writing to /dev/null", LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE},
    {"/dev/zero", "allow writing to /dev/zero", LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE},
    {"/dev/full", "allow writing to /dev/full", LANDLOCK_WRITE_FILE | LANDLOCK_TRUNCATE},
};

static int add_place(int ruleset_fd, const struct place *place, uint64_t handled, struct error *err)
{
    struct landlock_beneath rule = {.allowed = place->allowed & handled};
    if (rule.allowed == 0)
        return 0;
    rule.parent_fd = open(place->path, O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0)
        return error_set(err, errno, "%s", place->step);
    long r = syscall(SYS_landlock_add_rule, ruleset_fd, LANDLOCK_PATH_BENEATH, &rule, 0);
    if (r < 0)
        r = error_set(err, errno, "%s", place->step);
    (void)fd_close(rule.parent_fd);
    return (int)r;
}

int landlock_enter(const struct landlock_plan *plan, struct error *err)
{
    if (!plan->enabled)
        return 0;
    int fd = (int)syscall(SYS_landlock_create_ruleset, &plan->ruleset, sizeof(plan->ruleset), 0);
    if (fd < 0)
        return error_set(err, errno, "make a set of Landlock rules");
    int r = 0;
    for (size_t i = 0; i < ARRAY_SIZE(places) && r >= 0; i++)
        r = add_place(fd, &places[i], plan->ruleset.handled_fs, err);
    if (r >= 0 && syscall(SYS_landlock_restrict_self, fd, 0) < 0)
        r = error_set(err, errno, "restrict the program by Landlock");
    (void)fd_close(fd);
    return r;
}
