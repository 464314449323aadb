/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Theory of operation
 *
 * A zygote is an interpreter that has been started and initialised, and waits to be copied: what a
 * sandbox would have to do anew, it finds done. This is the code that it has beside the runtime's
 * own, as an extension module of the runtime's interpreter that the jailer brings along. It is
 * built for Python's stable ABI, and linked with nothing: the interpreter has a C library already.
 *
 *   jailer --fork, exec--> zygote: the runner (node-agent/runtime/runner.py), which imports what it
 *     |                      |     is told, loads this module and calls serve()
 *     |-- fork_request ----->|
 *     |                      `--clone3--> process 1, a child of the jailer's
 *     |                                   |
 *     |<- REPORT_BORN, its pidfd ---------|
 *     |                                   |  every lock that both share (child.h)
 *     |                                   |--fork--> process 2: its own locks
 *     |<- REPORT_LISTENER ----------------|----------|
 *     |                                   |          `-> back into the runner, which goes on as
 *     |                                   |              one that waits
 *     |                                   `--exec--> the reaper (node-agent/reaper)
 *     |<- REPORT_SEALED ------------------------------|
 *
 * Process 1 has no use for a copy of the interpreter, so it gets none: until it executes the reaper
 * it shares the zygote's memory, and the zygote stands still (CLONE_VM | CLONE_VFORK). All that
 * runs in that time is our own code, on the stack below the zygote's. Process 2 is a copy from
 * birth.
 *
 * The zygote has a uid of its own, and capabilities in a user namespace that was made for it and
 * its children alone (node-agent/jailer/family.h); over the host it has none. It reads nothing of
 * anybody's: its only input is the jailer's.
 *
 * Python's own hooks stand around the clone, so that in process 2 the interpreter is as after
 * os.fork(). Process 1 never comes back into it. What they leave alike in all copies is made
 * different by the runner, or is said in SECURITY.md.
 */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030a0000
#include <Python.h>

#include "common/cleanup.h"
#include "node-agent/jailer/fork_request.h"
#include "node-agent/jailer/report.h"
#include "node-agent/zygote/child_fork.h"
#include "seccomp/seccomp_policies.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>

long clone_shared(struct clone_args *args, size_t size) __attribute__((returns_twice));

/* A child of the jailer's, which ends with it and is reaped by it as any other process 1. Python's
 * handlers stay: process 2 needs them. Returns here once process 1 is the reaper or has ended, and
 * 0 in process 2, which is behind all its locks then. */
static __attribute__((noinline)) long clone_process_1(const struct jail_spec *spec, int clone_fd)
{
    struct clone_args args = {.flags = CLONE_NEWPID | CLONE_PARENT | CLONE_VM | CLONE_VFORK};
    if (clone_fd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)clone_fd;
    }
    long pid = clone_shared(&args, sizeof(args));
    if (pid == 0)
        child_fork(spec);
    return pid;
}

static int hide_self(void)
{
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void refuse(const struct jail_spec *spec, int errnum, const char *what)
{
    struct report report = {.kind = REPORT_FAILED, .lock = JAIL_LOCK_NAMESPACES};
    (void)error_set(&report.error, errnum, "%s", what);
    (void)!write(spec->fds[JAIL_FD_STATUS], &report, sizeof(report));
}

/* True in process 2. */
static bool fork_jail(const struct jail_spec *spec, int clone_fd)
{
    /* It does nothing, and says EINVAL to a process of several threads, of which a child would have
     * one and the locks of all (unshare(2)). */
    if (unshare(CLONE_THREAD) < 0) {
        refuse(spec, errno, "the zygote has threads, which a copy of it would lack");
        return false;
    }
    PyOS_BeforeFork();
    long pid = clone_process_1(spec, clone_fd);
    if (pid == 0) {
        PyOS_AfterFork_Child();
        return true;
    }
    if (hide_self() < 0 || child_fork_was_cut_short())
        _exit(EXIT_FAILURE);
    PyOS_AfterFork_Parent();
    if (pid < 0)
        refuse(spec, (int)-pid, "clone process 1 into a new pid namespace");
    return false;
}

/* One request; true in process 2, with whether its run is yet to come. */
static bool serve_one(int sock, int reaper_fd, bool *ret_waits)
{
    struct fork_request request;
    struct jail_spec spec;
    int fds[MAX_FORK_FDS], clone_fd = -1;
    size_t count = 0;
    int n = pass_fds_receive(sock, &request, sizeof(request), fds, MAX_FORK_FDS, &count, 0);
    if (n <= 0)
        _exit(EXIT_SUCCESS);
    if (fork_request_read(&request, (size_t)n, fds, count, &spec, &clone_fd) < 0)
        _exit(EXIT_FAILURE);
    spec.fds[JAIL_FD_REAPER] = reaper_fd;
    spec.payload_policy = &seccomp_policy_snippet;
    *ret_waits = spec.shows_places;
    if (fork_jail(&spec, clone_fd))
        return true;
    for (size_t i = 0; i < count; i++)
        (void)fd_close(fds[i]);
    return false;
}

static PyObject *serve(PyObject *self, PyObject *arg)
{
    (void)self;
    int sock = (int)PyLong_AsLong(arg);
    if (PyErr_Occurred())
        return NULL;
    /* Those that have its uid for a moment are its children. */
    int reaper_fd = hide_self() < 0 ? -1 : open(PAYLOAD_ZYGOTE_REAPER, O_PATH | O_CLOEXEC);
    if (reaper_fd < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    bool waits = false;
    while (!serve_one(sock, reaper_fd, &waits))
        continue;
    return PyBool_FromLong(waits);
}

static PyMethodDef methods[] = {
    {"serve", serve, METH_O,
     "Makes a jail for each request on a socket. Returns in the program of each, with whether its run "
     "is yet to come; the zygote ends with the socket."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT,
    .m_name = "sandboxrun_zygote",
    .m_methods = methods,
    .m_slots = slots,
};

/* Python's name for the one symbol that it looks up. */
PyMODINIT_FUNC PyInit_sandboxrun_zygote(void);

PyMODINIT_FUNC PyInit_sandboxrun_zygote(void)
{
    return PyModuleDef_Init(&module);
}
