/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/* What a filter returns for a call, computed as the kernel's classic BPF does. Fails the test for
 * an instruction that seccomp does not take or a jump out of the program. */
uint32_t bpf_machine_run(const struct sock_filter *filter, size_t len,
                         const struct seccomp_data *data);
