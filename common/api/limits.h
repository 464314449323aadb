/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Every bound of the API that is the same for all profiles. The CRD schema states the same. */
#define MAX_RUN_NAME           253
#define MAX_RUNTIME_NAME       63
#define DEFAULT_RUNTIME        "python3.12"
#define MAX_REQUEST_BYTES      (1u << 20) /* code, stdin, args and env together */
#define MAX_ARGS               64
#define MAX_ENV                64
#define MAX_ARG_BYTES          (16u << 10) /* one argument, one env name with its value */
#define MAX_ENV_NAME           256
#define MAX_EGRESS_RULES       32
#define MAX_EGRESS_PEERS       16   /* of one rule */
#define MAX_EGRESS_PORTS       16   /* of one rule */
#define MAX_EGRESS_EXCEPT      16   /* of one ipBlock */
#define MAX_EGRESS_PREFIXES    64   /* of all rules together, once exceptions are cut out */
#define MAX_EGRESS_NAMES       16   /* of all rules together */
#define MAX_EGRESS_NAME_BYTES  1024 /* of those, each with one byte more */
#define MAX_NODE_SELECTOR      16
#define MAX_LABEL_NAME         63 /* behind an optional prefix, and of a value */
#define MIN_TIMEOUT_SECONDS    1
#define MIN_MEMORY_BYTES       (32u << 20)
#define MIN_CPU_MILLI          10
#define MAX_QUEUE_TIMEOUT      3600
#define DEFAULT_QUEUE_TIMEOUT  60
#define MAX_TTL_SECONDS        (30 * 24 * 3600)
#define MAX_STATUS_STREAM      (64u << 10) /* of each stream in status */
#define MAX_STATUS_STREAM_HEAD (48u << 10)
#define MAX_STATUS_STREAM_TAIL (16u << 10)
#define MAX_OUTPUT_BYTES       (64u << 20) /* both streams; beyond it the run is ended */
#define MAX_STATUS_MESSAGE     1024
#define MAX_STATUS_DENIED      32 /* refused targets of a run that are told apart */
#define MAX_DENIED_TARGET      261
#define MAX_OBJECT_BYTES       (1310720u) /* 1.25 MiB, the whole object as JSON */
