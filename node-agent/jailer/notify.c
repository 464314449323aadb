/* SPDX-License-Identifier: Apache-2.0 */
#include "node-agent/jailer/notify.h"

#include "common/cleanup.h"
#include "node-agent/jailer/seccomp_answer.h"

#include <linux/seccomp.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* The kernel writes as much as it knows of, which may be more than our headers do. */
#define MAX_NOTICE_SIZE 256

union notice {
    struct seccomp_notif notif;
    char bytes[MAX_NOTICE_SIZE];
};

union answer {
    struct seccomp_notif_resp resp;
    char bytes[MAX_NOTICE_SIZE];
};

int notify_check(struct error *err)
{
    struct seccomp_notif_sizes sizes = {0};
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0)
        return error_set_errno(err, errno, "ask for the size of a seccomp notice");
    if (sizes.seccomp_notif > sizeof(union notice) ||
        sizes.seccomp_notif_resp > sizeof(union answer))
        return error_set(err, EOVERFLOW,
                         "a seccomp notice of this kernel has %u bytes and its answer %u, there is "
                         "room for %d",
                         sizes.seccomp_notif, sizes.seccomp_notif_resp, MAX_NOTICE_SIZE);
    return 0;
}

void notify_close(struct notify *notify)
{
    if (notify->events)
        (void)fd_close(events_remove(notify->events, &notify->source));
}

/* False if the call waits no more: its process was killed, or a signal took it back and it will be
 * made anew. */
static bool send_answer(const struct notify *notify, uint64_t id, int errnum)
{
    union answer answer;
    memset(&answer, 0, sizeof(answer));
    answer.resp.id = id;
    answer.resp.error = -errnum;
    return ioctl(notify->source.fd, SECCOMP_IOCTL_NOTIF_SEND, &answer) == 0;
}

static void take(struct notify *notify, const struct seccomp_notif *notif)
{
    int errnum = seccomp_answer(notify->policy, &notif->data);
    if (errnum > 0 && !send_answer(notify, notif->id, errnum))
        return;
    bool open = denials_add(&notify->denials, notif->data.nr);
    if (errnum == 0)
        notify->forbidden(notif->data.nr, notify->arg);
    if (!open)
        notify_close(notify);
}

/* One notice a turn, so that a flood of refusals leaves the others their turn. */
static void on_listener(uint32_t events, void *arg)
{
    struct notify *notify = arg;
    if (!(events & EPOLLIN)) {
        /* EPOLLHUP: nobody is behind this filter any more. */
        notify_close(notify);
        return;
    }
    /* Does not wait: the notice that made it readable may be gone, which is ENOENT. */
    union notice notice;
    memset(&notice, 0, sizeof(notice));
    if (ioctl(notify->source.fd, SECCOMP_IOCTL_NOTIF_RECV, &notice) == 0)
        take(notify, &notice.notif);
    else if (errno != ENOENT && errno != EINTR)
        notify_close(notify);
}

int notify_open(struct notify *notify, struct events *events, int fd,
                const struct seccomp_policy *policy, notify_forbidden_fn forbidden, void *arg,
                struct error *err)
{
    *notify = (struct notify){.source = EVENT_SOURCE_INIT,
                              .events = events,
                              .policy = policy,
                              .forbidden = forbidden,
                              .arg = arg};
    cleanup_close int listener = fd;
    /* No notice has this number; nothing but a listener can say so. */
    uint64_t id = 0;
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0 || errno != ENOENT)
        return error_set(err, EINVAL, "what came is not the filter's listener");
    int r = events_add(events, &notify->source, listener, EPOLLIN, on_listener, notify);
    if (r < 0)
        return error_set_errno(err, -r, "watch the filter's listener");
    (void)TAKE_FD(listener);
    return 0;
}
