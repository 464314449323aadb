/* SPDX-License-Identifier: Apache-2.0 */

/* The entry, and what of a C library the reaper's program calls: system calls and two functions on
 * memory. Single-threaded, so that errno is a variable. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGUMENTS 6

#if defined(__x86_64__)
/* The stack is aligned as at a call, without a caller to return to. */
__asm__(".globl _start\n"
        "_start:\n"
        "    xorl %ebp, %ebp\n"
        "    call reaper_start\n");

static long call(long number, const long arg[static ARGUMENTS])
{
    register long r10 __asm__("r10");
    register long r8 __asm__("r8");
    register long r9 __asm__("r9");
    long result = number;
    r10 = arg[3];
    r8 = arg[4];
    r9 = arg[5];
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(arg[0]), "S"(arg[1]), "d"(arg[2]), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#elif defined(__aarch64__)
__asm__(".globl _start\n"
        "_start:\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    b reaper_start\n");

static long call(long number, const long arg[static ARGUMENTS])
{
    register long x8 __asm__("x8");
    register long x0 __asm__("x0");
    register long x1 __asm__("x1");
    register long x2 __asm__("x2");
    register long x3 __asm__("x3");
    register long x4 __asm__("x4");
    register long x5 __asm__("x5");
    x8 = number;
    x0 = arg[0];
    x1 = arg[1];
    x2 = arg[2];
    x3 = arg[3];
    x4 = arg[4];
    x5 = arg[5];
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}
#else
#error "the reaper's program has no system calls for this architecture"
#endif

static int last_error;

int *__errno_location(void)
{
    return &last_error;
}

/* The kernel's way to say that it failed: the last page of addresses. */
static long finish(long result)
{
    if (result >= 0 || result < -4095)
        return result;
    last_error = (int)-result;
    return -1;
}

#define CALL(number, ...) finish(call(number, (const long[ARGUMENTS]){__VA_ARGS__}))

long syscall(long number, ...)
{
    long arg[ARGUMENTS];
    va_list list;
    va_start(list, number);
    for (size_t i = 0; i < ARGUMENTS; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    return finish(call(number, arg));
}

ssize_t read(int fd, void *bytes, size_t len)
{
    return CALL(SYS_read, fd, (long)bytes, (long)len);
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    return CALL(SYS_write, fd, (long)bytes, (long)len);
}

int close(int fd)
{
    return (int)CALL(SYS_close, fd);
}

int close_range(unsigned int first, unsigned int last, int flags)
{
    return (int)CALL(SYS_close_range, first, last, flags);
}

int prctl(int option, ...)
{
    long arg[ARGUMENTS] = {option};
    va_list list;
    va_start(list, option);
    for (size_t i = 1; i < 5; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    return (int)finish(call(SYS_prctl, arg));
}

pid_t waitpid(pid_t pid, int *ret_status, int options)
{
    return (pid_t)CALL(SYS_wait4, pid, (long)ret_status, options);
}

/* Without a limit on time and without a mask, which is all that is asked for here. */
int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    return (int)CALL(SYS_ppoll, (long)fds, (long)count, (long)timeout, (long)mask,
                     (long)(_NSIG / 8));
}

_Noreturn void _exit(int status)
{
    for (;;)
        (void)CALL(SYS_exit_group, status);
}

/* The compiler makes calls of these for what it finds in loops and initialisers. */
void *memset(void *bytes, int value, size_t len)
{
    unsigned char *at = bytes;
    while (len-- > 0)
        *at++ = (unsigned char)value;
    return bytes;
}

void *memcpy(void *restrict bytes, const void *restrict from, size_t len)
{
    unsigned char *at = bytes;
    const unsigned char *source = from;
    while (len-- > 0)
        *at++ = *source++;
    return bytes;
}
