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
 *     |                      `--clone3(NEWPID, PARENT)--> process 1, a child of the jailer's
 *     |<- REPORT_BORN, its pidfd ---------------------------- |
 *     |                                                       | every lock that both share
 * (child.h) |                                                       |--fork--> process 2: its own
 * locks, |                                                       |          REPORT_LISTENER, back
 * into
 *     |<- REPORT_SEALED -------------------------------------- |          the runner, which goes on
 *     |                                                       v          as one that waits
 *     |                                                   reaper_run()
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

#include <linux/sched.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* A child of the jailer's, which ends with it and is reaped by it as any other process 1. Python's
 * handlers stay: process 2 needs them. */
static long clone_process_1(int clone_fd)
{
    struct clone_args args = {.flags = CLONE_NEWPID | CLONE_PARENT};
    if (clone_fd >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)clone_fd;
    }
    return syscall(SYS_clone3, &args, sizeof(args));
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
    long pid = clone_process_1(clone_fd);
    if (pid == 0) {
        child_fork(spec);
        PyOS_AfterFork_Child();
        return true;
    }
    int failure = errno;
    PyOS_AfterFork_Parent();
    if (pid < 0)
        refuse(spec, failure, "clone process 1 into a new pid namespace");
    return false;
}

/* One request; true in process 2. */
static bool serve_one(int sock)
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
    spec.payload_policy = &seccomp_policy_snippet;
    spec.reaper_policy = &seccomp_policy_reaper;
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
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return PyErr_SetFromErrno(PyExc_OSError);
    while (!serve_one(sock))
        continue;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"serve", serve, METH_O,
     "Makes a jail for each request on a socket. Returns in the program of each; the zygote ends "
     "with the socket."},
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
