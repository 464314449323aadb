/* SPDX-License-Identifier: Apache-2.0 */

/*
 * long clone_shared(struct clone_args *args, size_t size)
 *
 * clone3(2) for a child that shares the caller's memory and its stack while the caller stands still
 * (CLONE_VM | CLONE_VFORK): as vfork() of a C library, it returns twice, and so keeps its return
 * address where the child can't overwrite it. The child's pid, 0 in the child, or -errno.
 */
#include <sys/syscall.h>

    .text
    .globl clone_shared
    .hidden clone_shared
    .type clone_shared, %function
clone_shared:
#if defined(__x86_64__)
    popq %rdx
    movl $SYS_clone3, %eax
    syscall
    pushq %rdx
    ret
#elif defined(__aarch64__)
    mov x8, #SYS_clone3
    svc #0
    ret
#else
#error "no clone3() for this architecture"
#endif
    .size clone_shared, . - clone_shared

    .section .note.GNU-stack, "", %progbits
