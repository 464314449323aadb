/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "common/error.h"

/*
 * JSON lines on stderr: {"time":RFC 3339 with µs,"level":..,"component":..,"msg":.., fields}.
 * Only the owner of an operation logs, once. Strings are escaped; a line is at most 4 KiB,
 * and one that stderr has no room for is lost.
 */
enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

/* LOG_FORMAT_TEXT ("level: msg field=value") is for a person at a terminal. */
enum log_format { LOG_FORMAT_JSON, LOG_FORMAT_TEXT };

/* A field: value NULL leaves the field out. Build with the macros below. */
struct log_field {
    const char *key;
    const char *text;
    long long number;
    int is_number;
};

#define MAX_LOG_FIELDS 16

#define LOG_TEXT(k, v)   ((struct log_field){.key = (k), .text = (v)})
#define LOG_NUMBER(k, v) ((struct log_field){.key = (k), .number = (v), .is_number = 1})

/* Process-wide settings, made once in main before anything logs. component must outlive the
 * process. */
void log_init(const char *component, enum log_level level, enum log_format format);

/* Parses "debug", "info", "warn" or "error"; -EINVAL otherwise. */
int log_level_parse(const char *text, enum log_level *ret_level);

/* Writes one line if level is enabled. Fields end at the first with key NULL, or after
 * MAX_LOG_FIELDS. Use log_event(). */
void log_write(enum log_level level, const char *msg, const struct log_field *fields);

/* log_event(LOG_LEVEL_INFO, "assigned run", LOG_TEXT("run", name), LOG_NUMBER("ms", 3)) */
#define log_event(level, msg, ...)                                                                 \
    log_write((level), (msg), (const struct log_field[MAX_LOG_FIELDS]){__VA_ARGS__})
